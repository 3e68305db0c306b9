// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/YamlFile.hpp"
#include "config/ScalarParser.hpp"
#include "config/TorchFortFile.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace inSitu
{
namespace
{

// An alias may contain itself
constexpr int maximumDepth = 32;


Node convert(const YAML::Node& yaml, const std::string& name, int depth)
{
    const int line = yaml.Mark().line + 1;
    if (depth > maximumDepth)
    {
        throw ConfigError(name, line, "is nested too deeply");
    }

    if (yaml.IsSequence())
    {
        Node list = Node::list({}, name, line);
        for (const YAML::Node& item : yaml)
        {
            list.items.push_back(convert(item, name, depth + 1));
        }
        return list;
    }

    if (yaml.IsMap())
    {
        Node block = Node::block(name, line);
        for (const auto& entry : yaml)
        {
            const int keyLine = entry.first.Mark().line + 1;
            if (!entry.first.IsScalar())
            {
                throw ConfigError(name, keyLine, "has a key that is not a word");
            }
            const std::string key = entry.first.Scalar();
            if (block.find(key))
            {
                throw ConfigError(name, keyLine, "has the key '" + key + "' twice; remove one");
            }
            Node value = convert(entry.second, name, depth + 1);
            value.line = keyLine;
            block.add(key, std::move(value));
        }
        return block;
    }

    Node scalar = Node::scalar(yaml.IsScalar() ? yaml.Scalar() : "", name, line);
    scalar.quoted = yaml.Tag() == "!";
    return scalar;
}


//- Keys, and the words after `type`, in camelCase
Node inCamelCase(const Node& node)
{
    Node result = node;
    result.entries.clear();
    result.items.clear();

    for (const Node& item : node.items)
    {
        result.items.push_back(inCamelCase(item));
    }
    for (const auto& entry : node.entries)
    {
        const std::string key = camelCase(entry.first);
        if (result.find(key))
        {
            throw ConfigError(entry.second.file, entry.second.line,
                "has the key '" + key + "' twice; remove one");
        }
        result.add(key, inCamelCase(entry.second));
        if (key == "type")
        {
            std::string& word = result.entries.back().second.text;
            word = camelCase(word);
        }
    }
    return result;
}


std::string contentOf(const std::string& path)
{
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
    {
        throw ConfigError(path, 0, "does not exist");
    }
    if (std::filesystem::is_directory(status))
    {
        throw ConfigError(path, 0, "is a folder; a YAML file is wanted");
    }

    std::ifstream file(path);
    std::ostringstream content;
    content << file.rdbuf();
    if (!file)
    {
        throw ConfigError(path, 0, std::string("cannot be read: ") + std::strerror(errno));
    }
    return content.str();
}

}


Node parseYaml(const std::string& text, const std::string& name)
{
    try
    {
        const std::vector<YAML::Node> documents = YAML::LoadAll(text);
        if (documents.size() > 1)
        {
            throw ConfigError(name, documents[1].Mark().line + 1,
                "begins a second document; one is wanted");
        }
        return documents.empty() ? Node::scalar("", name) : convert(documents[0], name, 0);
    }
    catch (const YAML::Exception& fault)
    {
        throw ConfigError(name, fault.mark.line + 1, "is not valid YAML: " + fault.msg);
    }
}


TrainingFile readTrainingFile(const std::string& path)
{
    const std::string content = contentOf(path);
    const Node written = parseYaml(content, path);
    if (written.kind != Node::Kind::block || written.entries.empty())
    {
        throw ConfigError(path, written.line,
            "has no entries; the keys of the block `training` are wanted");
    }
    if (isTorchFort(written))
    {
        return fromTorchFort(written);
    }

    TrainingFile file;
    file.training = inCamelCase(written);
    return file;
}


std::vector<std::string> insertTrainingFile(Node& block, const std::string& path,
    const std::string& caseFolder)
{
    const Node* const entry = block.find("trainingFile");
    if (!entry)
    {
        return {};
    }
    const std::string name = scalarText(*entry, path + ".trainingFile");
    if (name.empty())
    {
        fail(*entry, path + ".trainingFile", "is empty; name a YAML file");
    }
    if (const Node* const training = block.find("training"))
    {
        fail(*training, path + ".training",
            "is given and trainingFile '" + name + "' too; remove one");
    }

    const auto location = std::filesystem::path(caseFolder) / name;
    if (!std::filesystem::exists(location))
    {
        fail(*entry, path + ".trainingFile", '\'' + location.string() + "' does not exist");
    }

    TrainingFile file = readTrainingFile(location.string());
    block.add("training", std::move(file.training));
    if (file.reportInterval && !block.find("reportInterval"))
    {
        block.add("reportInterval", std::move(*file.reportInterval));
    }
    return file.notes;
}

}
