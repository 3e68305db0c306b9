// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace inSitu
{

//- Wait until the content of a file, or the entries of a folder, are on the disk.
//  Throws Error.
void syncToDisk(const std::string& path);

//- Folder that a file or folder lies in; "." for a plain name
std::string parentOf(const std::string& path);

//- Throws Error if the file system of folder has less than that many bytes left
void requireSpace(const std::string& folder, std::size_t bytes);

//- "<path>.tmp<pid>": where this process prepares what shall appear at path
std::string temporaryName(const std::string& path);

//- Remove what killed processes left at temporary names of path; faults are ignored
void removeLeftovers(const std::string& path);

//- All bytes of a file. Throws Error: missing, no plain file, larger than 4 GiB, or unreadable.
std::string readFile(const std::string& path);

//- Write bytes to the file at path: beside, synced and renamed as publishFile does, with the
//  space asked for before. Throws Error; what was at path stays.
void replaceFile(const std::string& path, std::string_view bytes);

//- Sync the file at temporaryName(path) and rename it to path: readers see the old file or
//  the new one. Throws Error; the temporary file is then gone.
void publishFile(const std::string& path);

//- The same for a folder whose files are synced: a folder at path is set aside as
//  "<path>.old" for the moment between the renames and removed after them. If that moment
//  is cut short, "<path>.old" is what stood at path.
void publishFolder(const std::string& path);

//- Removes a temporary file or folder when it goes out of scope, if it is still there
class RemoveAtExit
{
public:

    explicit RemoveAtExit(std::string path);
    ~RemoveAtExit();

    RemoveAtExit(const RemoveAtExit&) = delete;
    RemoveAtExit& operator=(const RemoveAtExit&) = delete;

private:

    std::string path_;
};

//- Make a folder, if it is not there, and give its name back. Throws Error.
const std::string& createdFolder(const std::string& folder);

}
