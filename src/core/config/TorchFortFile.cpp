// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/TorchFortFile.hpp"
#include "config/ScalarParser.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

const std::vector<std::string> blocks{"general", "model", "loss", "optimizer", "lr_scheduler"};


bool contains(const std::vector<std::string>& words, const std::string& word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}


//- In lower case and without blanks, as TorchFort compares its words
std::string plain(const std::string& word)
{
    std::string result;
    for (const char c : word)
    {
        if (c != ' ' && c != '\t')
        {
            result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        }
    }
    return result;
}


std::string keyOf(const std::string& word)
{
    const std::string key = camelCase(plain(word));
    return key == "tMax" ? "TMax" : key;
}


[[noreturn]] void failUnknown(const Node& node, const std::string& path, const std::string& word,
    const std::vector<std::string>& known)
{
    fail(node, path, "is not known" + didYouMean(word, known) + " Known here: " + join(known));
}


void addUnique(Node& block, const std::string& key, Node node)
{
    if (block.find(key))
    {
        fail(node, key, "is given twice; remove one");
    }
    block.add(key, std::move(node));
}


//- { type, parameters {…}, general {…} } → { type, … }
Node flattened(const Node& block, const std::string& name)
{
    Node result = Node::block(block.file, block.line);
    for (const auto& entry : block.entries)
    {
        const std::string key = plain(entry.first);
        const Node& value = entry.second;

        if (key == "type")
        {
            Node word = value;
            word.text = camelCase(plain(scalarText(value, name + ".type")));
            addUnique(result, "type", std::move(word));
        }
        else if (key == "parameters" || (key == "general" && name == "optimizer"))
        {
            if (value.kind != Node::Kind::block)
            {
                fail(value, name + '.' + key, "is no block; keys with values are wanted");
            }
            for (const auto& parameter : value.entries)
            {
                const std::string parameterKey = keyOf(parameter.first);
                Node parameterValue = parameter.second;
                if (parameterKey == "reduction")
                {
                    parameterValue.text = plain(parameterValue.text);
                }
                addUnique(result, parameterKey, std::move(parameterValue));
            }
        }
        else
        {
            std::vector<std::string> known{"type", "parameters"};
            if (name == "optimizer")
            {
                known.push_back("general");
            }
            failUnknown(value, name + '.' + entry.first, key, known);
        }
    }
    return result;
}


void readGeneral(const Node& block, TrainingFile& file)
{
    const std::vector<std::string> known{"report_frequency", "enable_wandb_hook", "verbose",
        "enable_cuda_graphs"};

    for (const auto& entry : block.entries)
    {
        const std::string key = plain(entry.first);
        const std::string path = "general." + key;
        const Node& value = entry.second;

        if (!contains(known, key))
        {
            failUnknown(value, path, key, known);
        }
        if (key == "report_frequency")
        {
            if (parseInt(value, path, Range::atLeast(0)) > 0)
            {
                file.reportInterval = value;
            }
            else
            {
                file.notes.push_back(value.file + ": general.report_frequency 0 has no effect, "
                    "reports follow reportInterval of the function object");
            }
        }
        else if (parseBool(value, path))
        {
            file.notes.push_back(value.file + ": " + path + " has no effect here");
        }
    }
}

}


std::string camelCase(const std::string& snakeCase)
{
    std::string result;
    bool raise = false;
    for (const char c : snakeCase)
    {
        if (c == '_' && !result.empty())
        {
            raise = true;
            continue;
        }
        result += raise && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        raise = false;
    }
    return result;
}


bool isTorchFort(const Node& file)
{
    return std::any_of(file.entries.begin(), file.entries.end(), [](const auto& entry)
    {
        const std::string name = plain(entry.first);
        return contains(blocks, name)
            && (name == "general"
                || std::any_of(entry.second.entries.begin(), entry.second.entries.end(),
                    [](const auto& inner)
                    {
                        const std::string key = plain(inner.first);
                        return key == "parameters" || key == "general";
                    }));
    });
}


TrainingFile fromTorchFort(const Node& written)
{
    TrainingFile file;
    file.training = Node::block(written.file, written.line);

    for (const auto& entry : written.entries)
    {
        const std::string name = plain(entry.first);
        const Node& value = entry.second;

        if (value.kind != Node::Kind::block)
        {
            addUnique(file.training, camelCase(entry.first), value);
        }
        else if (name == "general")
        {
            readGeneral(value, file);
        }
        else if (contains(blocks, name))
        {
            addUnique(file.training, camelCase(name), flattened(value, name));
        }
        else
        {
            fail(value, entry.first, "is not a block of supervised training"
                + didYouMean(name, blocks) + " Known: " + join(blocks));
        }
    }
    return file;
}

}
