// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/ModelFile.hpp"

#include "base/Error.hpp"
#include "io/Archive.hpp"
#include "io/Disk.hpp"
#include "io/MdlusContent.hpp"

#include <algorithm>
#include <filesystem>

namespace inSitu
{
namespace
{

//- What torch writes lies in one folder, whose name is that of the file when it was written
class Members
{
public:

    explicit Members(const std::vector<std::string>& names)
    :
        names_(names)
    {}

    bool has(const std::string& name) const
    {
        return std::find(names_.begin(), names_.end(), name) != names_.end();
    }

    bool hasBelowTop(const std::string& name) const
    {
        return any([&](const std::string& below) { return below == name; });
    }

    bool hasFolderBelowTop(const std::string& folder) const
    {
        return any([&](const std::string& below)
            { return below.compare(0, folder.size(), folder) == 0; });
    }

private:

    template<class Test>
    bool any(const Test& test) const
    {
        return std::any_of(names_.begin(), names_.end(), [&](const std::string& name)
        {
            const std::size_t slash = name.find('/');
            return slash != std::string::npos && test(name.substr(slash + 1));
        });
    }

    const std::vector<std::string>& names_;
};


ModelFile::Kind kindOf(const Members& members, const std::string& path)
{
    using Kind = ModelFile::Kind;
    if (members.has(mdlus::argumentsMember) || members.has(mdlus::metadataMember))
    {
        return Kind::mdlus;
    }
    if (members.hasFolderBelowTop("data/aotinductor/"))
    {
        return Kind::package;
    }
    if (members.hasFolderBelowTop("models/") && members.hasBelowTop("archive_format"))
    {
        return Kind::exportedProgram;
    }
    if (members.hasBelowTop("data.pkl"))
    {
        return members.hasBelowTop("constants.pkl") ? Kind::torchScript : Kind::stateDictionary;
    }
    throw Error('\'' + path + "' is an archive, but no network: neither TorchScript, nor .mdlus,"
        " nor .pt2, nor a file of torch.save");
}

}


const char* ModelFile::nameOf(Kind kind)
{
    switch (kind)
    {
        case Kind::torchScript: return "a TorchScript module";
        case Kind::mdlus: return "a model of PhysicsNeMo";
        case Kind::package: return "a package of AOTInductor";
        case Kind::exportedProgram: return "a program of torch.export";
        case Kind::stateDictionary: break;
    }
    return "a state dictionary";
}


ModelFile readModelFile(const std::string& path)
{
    if (std::filesystem::is_directory(path))
    {
        throw Error('\'' + path + "' is a folder; the file of a network is wanted");
    }
    if (!std::filesystem::exists(path))
    {
        throw Error('\'' + path + "' is not there");
    }
    return identifyModel(readFile(path), path);
}


ModelFile identifyModel(std::string bytes, const std::string& path)
{
    ModelFile file;
    file.path = path;
    file.bytes = std::move(bytes);
    if (file.bytes.compare(0, 2, "\x80\x02") == 0)
    {
        file.kind = ModelFile::Kind::stateDictionary;      // of torch before 1.6, no archive
        return file;
    }
    const std::vector<std::string> names = verifyArchive(file.bytes, path);
    file.kind = kindOf(Members(names), path);
    return file;
}

}
