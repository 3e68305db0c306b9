// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/MdlusContent.hpp"

#include "base/Error.hpp"
#include "config/JsonReader.hpp"
#include "io/Archive.hpp"
#include "io/Disk.hpp"
#include "io/Pickle.hpp"
#include "io/TorchFile.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

constexpr std::size_t maximumJsonBytes = std::size_t(1) << 20;


class Reader
{
public:

    Reader(std::string_view bytes, const std::string& path)
    :
        members_(readArchive(bytes, path)),
        path_(path)
    {
        for (const std::string* name : {&mdlus::modelMember, &mdlus::argumentsMember,
            &mdlus::metadataMember})
        {
            if (members_.count(*name) == 0)
            {
                fail("has no member " + *name + ": it is no model file of PhysicsNeMo");
            }
        }
    }

    MdlusContent read()
    {
        MdlusContent content;
        content.path = path_;
        takeExtras(content);
        takeMetadata(content);
        takeArguments(content);
        content.tensors = readTorchState(members_.at(mdlus::modelMember),
            path_ + ':' + mdlus::modelMember);
        return content;
    }

private:

    [[noreturn]] void fail(const std::string& what) const
    {
        throw Error('\'' + path_ + "' " + what);
    }

    //- A member that is a JSON object
    Node block(const std::string& member) const
    {
        const std::string& text = members_.at(member);
        if (text.size() > maximumJsonBytes)
        {
            fail("has more than 1 MiB of " + member);
        }
        Node node = parseJson(text, path_ + ':' + member);
        if (node.kind != Node::Kind::block)
        {
            fail("has no JSON object in " + member);
        }
        return node;
    }

    void takeExtras(MdlusContent& content) const
    {
        for (const auto& [name, text] : members_)
        {
            const std::string& folder = mdlus::extraFolder;
            if (name.compare(0, folder.size(), folder) == 0)
            {
                content.extras[name.substr(folder.size())] = text;
            }
            else if (name != mdlus::modelMember && name != mdlus::argumentsMember
             && name != mdlus::metadataMember)
            {
                fail("has the member " + shown(name) + ", which does not belong into it");
            }
        }
    }

    void takeMetadata(MdlusContent& content) const
    {
        for (const auto& [key, value] : block(mdlus::metadataMember).entries)
        {
            content.metadata[key] = value.kind == Node::Kind::scalar ? value.text : value.json();
        }

        // PhysicsNeMo takes a file without a version for one of the current version
        const auto version = content.metadata.find("mdlus_file_version");
        if (version != content.metadata.end() && version->second != mdlus::formatVersion)
        {
            fail("has mdlus_file_version " + shown(version->second) + "; "
                + mdlus::formatVersion + " is read");
        }
    }

    static std::string text(const Node& node, const std::string& key)
    {
        const Node* const entry = node.find(key);
        if (!entry || entry->kind != Node::Kind::scalar || entry->text.empty())
        {
            throw ConfigError(node.file, node.line, "has no text " + key);
        }
        return entry->text;
    }

    void takeArguments(MdlusContent& content) const
    {
        Node node = block(mdlus::argumentsMember);
        content.className = text(node, "__name__");
        content.module = text(node, "__module__");

        for (const auto& entry : node.entries)
        {
            if (entry.first != "__name__" && entry.first != "__module__"
             && entry.first != "__args__")
            {
                throw ConfigError(entry.second.file, entry.second.line, "has the entry "
                    + shown(entry.first) + ": models with other models as arguments are refused");
            }
        }
        const Node* const arguments = node.find("__args__");
        if (!arguments || arguments->kind != Node::Kind::block)
        {
            throw ConfigError(node.file, node.line, "has no block __args__");
        }
        content.arguments = *arguments;
    }

    ArchiveMembers members_;
    const std::string& path_;
};

}


MdlusContent readMdlus(const std::string& path)
{
    return parseMdlus(readFile(path), path);
}


MdlusContent parseMdlus(std::string_view bytes, const std::string& path)
{
    return Reader(bytes, path).read();
}

}
