// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/Manifest.hpp"

#include "base/Error.hpp"
#include "config/SchemaReader.hpp"
#include "config/YamlFile.hpp"
#include "io/Crc32.hpp"
#include "io/JsonLines.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace inSitu
{
namespace
{

constexpr int formatVersion = 1;
const std::string format = "inSituFoam checkpoint";


std::string hexadecimal(std::uint32_t crc)
{
    char text[9];
    std::snprintf(text, sizeof(text), "%08x", crc);
    return text;
}


std::string placeOf(const std::string& folder, const std::string& name)
{
    return "checkpoint '" + folder + "': " + name;
}


void requireSize(const std::string& folder, const Manifest::File& file, std::uint64_t bytes)
{
    if (bytes != file.bytes)
    {
        throw Error(placeOf(folder, file.name) + " has " + std::to_string(bytes)
            + " bytes, the manifest says " + std::to_string(file.bytes));
    }
}


//- How the text ends, given the text before
std::string ending(const std::string& before)
{
    return ",\"crc32\":\"" + hexadecimal(crc32(before.data(), before.size())) + "\"}\n";
}


Manifest::File fileFrom(const Node& node)
{
    Manifest::File file;
    std::int64_t bytes = 0;
    std::string crc;
    readConfig(node, "file", [&](Schema& schema)
    {
        schema.key("name", file.name, "");
        schema.key("bytes", bytes, "", Range::atLeast(0));
        schema.key("crc32", crc, "");
    });
    file.bytes = static_cast<std::uint64_t>(bytes);
    file.crc = static_cast<std::uint32_t>(std::stoul(crc, nullptr, 16));
    return file;
}

}


const std::string Manifest::fileName = "manifest.json";


Manifest::File Manifest::measure(const std::string& folder, const std::string& name)
{
    std::ifstream file(folder + '/' + name, std::ios::binary);
    if (!file)
    {
        throw Error(placeOf(folder, name) + " is missing");
    }

    File measured{name, 0, 0};
    std::vector<char> chunk(65536);
    do
    {
        file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
        const auto count = static_cast<std::size_t>(file.gcount());
        measured.crc = crc32(chunk.data(), count, measured.crc);
        measured.bytes += count;
    }
    while (file);

    if (!file.eof())
    {
        throw Error(placeOf(folder, name) + " cannot be read");
    }
    return measured;
}


Manifest Manifest::read(const std::string& folder)
{
    const std::string path = folder + '/' + fileName;
    std::ifstream file(path, std::ios::binary);
    if (!file)
    {
        throw Error(placeOf(folder, fileName) + " is missing");
    }
    std::ostringstream content;
    content << file.rdbuf();
    const std::string text = content.str();

    const std::size_t endingSize = ending("").size();
    const std::string before = text.substr(0, text.size() - std::min(text.size(), endingSize));
    if (text != before + ending(before))
    {
        throw Error(placeOf(folder, fileName) + " is damaged");
    }

    const Node root = parseYaml(before + '}', path);
    const Node* const version = root.find("version");
    const Node* const files = root.find("files");
    if (!version || version->text != std::to_string(formatVersion) || !files)
    {
        throw Error("checkpoint '" + folder + "' has format version "
            + (version ? version->text : "unknown") + "; this build reads "
            + std::to_string(formatVersion));
    }

    Manifest manifest;
    for (const Node& node : files->items)
    {
        manifest.files.push_back(fileFrom(node));
    }
    return manifest;
}


void Manifest::write(const std::string& folder) const
{
    std::string list;
    for (const File& file : files)
    {
        list += (list.empty() ? "" : ",") + JsonObject()
            .add("name", file.name)
            .add("bytes", static_cast<long long>(file.bytes))
            .add("crc32", hexadecimal(file.crc))
            .text();
    }
    std::string text = JsonObject()
        .add("format", format)
        .add("version", formatVersion)
        .addRaw("files", '[' + list + ']')
        .text();
    text.pop_back();

    const std::string path = folder + '/' + fileName;
    std::ofstream file(path, std::ios::binary);
    file << text << ending(text);
    file.close();
    if (!file)
    {
        throw Error("cannot write '" + path + '\'');
    }
}


void Manifest::requireSizes(const std::string& folder) const
{
    for (const File& file : files)
    {
        std::error_code fault;
        const auto bytes = std::filesystem::file_size(folder + '/' + file.name, fault);
        if (fault)
        {
            throw Error(placeOf(folder, file.name) + " is missing");
        }
        requireSize(folder, file, bytes);
    }
}


void Manifest::verify(const std::string& folder) const
{
    for (const File& file : files)
    {
        verify(folder, file.name);
    }
}


void Manifest::verify(const std::string& folder, const std::string& name) const
{
    const auto file = std::find_if(files.begin(), files.end(),
        [&](const File& candidate) { return candidate.name == name; });
    if (file == files.end())
    {
        throw Error(placeOf(folder, name) + " is not among the files of the manifest");
    }
    const File found = measure(folder, name);
    requireSize(folder, *file, found.bytes);
    if (found.crc != file->crc)
    {
        throw Error(placeOf(folder, name)
            + " is damaged: its checksum is not that of the manifest");
    }
}


bool Manifest::has(const std::string& name) const
{
    return std::any_of(files.begin(), files.end(),
        [&](const File& file) { return file.name == name; });
}


std::uint64_t Manifest::bytes() const
{
    std::uint64_t sum = 0;
    for (const File& file : files)
    {
        sum += file.bytes;
    }
    return sum;
}

}
