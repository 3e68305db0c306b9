// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace inSitu
{

//- The list of files that make a checkpoint. As text one line of JSON,
//      {"format":"inSituFoam checkpoint","version":1,"files":[{"name":"state.h5",
//       "bytes":5120,"crc32":"0f3a…"}],"crc32":"…"}
//  whose last entry is the CRC-32 of the text before it: a changed byte never passes.
struct Manifest
{
    struct File
    {
        std::string name;
        std::uint64_t bytes = 0;
        std::uint32_t crc = 0;
    };

    std::vector<File> files;

    //- Name of the manifest's own file
    static const std::string fileName;

    //- Measure a file of a folder. Throws Error if it is missing or cannot be read.
    static File measure(const std::string& folder, const std::string& name);

    //- Throws Error: missing, damaged, of another format version
    static Manifest read(const std::string& folder);

    //- Write it into folder
    void write(const std::string& folder) const;

    //- Throws Error naming the first file that is missing or of another size than stated
    void requireSizes(const std::string& folder) const;

    //- The same, for its checksum too
    void verify(const std::string& folder) const;

    //- The same for one of them
    void verify(const std::string& folder, const std::string& name) const;

    bool has(const std::string& name) const;

    std::uint64_t bytes() const;
};

}
