// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/SchemaReader.hpp"
#include "config/ScalarParser.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

//- Visits one block. Faults of a value are thrown at once; what can only be said of the
//  whole block (unknown keys, then missing ones, then checks over several) by finish().
class Reader final : public Schema
{
public:

    Reader(const Node& node, std::string path, std::vector<std::string> hostKeys = {})
    :
        node_(node),
        path_(std::move(path)),
        known_(std::move(hostKeys))
    {
        if (node.kind != Node::Kind::block)
        {
            fail(node, path_, "is a "
                + std::string(node.kind == Node::Kind::list ? "list" : "single value")
                + "; a block of keys is wanted");
        }
    }

    void key(const std::string& name, bool& value, const std::string&) override
    {
        if (const Node* entry = take(name))
        {
            value = parseBool(*entry, pathOf(name));
        }
    }

    void key(const std::string& name, std::int64_t& value, const std::string&,
        Range range) override
    {
        if (const Node* entry = take(name))
        {
            value = parseInt(*entry, pathOf(name), range);
        }
    }

    void key(const std::string& name, double& value, const std::string&, Range range) override
    {
        if (const Node* entry = take(name))
        {
            value = parseDouble(*entry, pathOf(name), range);
        }
    }

    void key(const std::string& name, std::string& value, const std::string&) override
    {
        if (const Node* entry = take(name))
        {
            value = scalarText(*entry, pathOf(name));
        }
    }

    void key(const std::string& name, std::vector<std::int64_t>& value, const std::string&,
        Range range) override
    {
        readList(name, value,
            [&](const Node& item) { return parseInt(item, pathOf(name), range); });
    }

    void key(const std::string& name, std::vector<std::string>& value,
        const std::string&) override
    {
        readList(name, value, [&](const Node& item) { return scalarText(item, pathOf(name)); });
    }

    void key(const std::string& name, std::vector<Pattern>& value, const std::string&) override
    {
        readList(name, value, [&](const Node& item)
            { return Pattern{scalarText(item, pathOf(name)), item.quoted}; });
    }

    void key(const std::string& name, std::optional<std::int64_t>& value, const std::string&,
        Range range) override
    {
        if (const Node* entry = take(name))
        {
            value = parseInt(*entry, pathOf(name), range);
        }
    }

    void key(const std::string& name, std::optional<double>& value, const std::string&,
        Range range) override
    {
        if (const Node* entry = take(name))
        {
            value = parseDouble(*entry, pathOf(name), range);
        }
    }

    void choice(const std::string& name, std::string& value,
        const std::vector<std::string>& words, const std::string&) override
    {
        if (const Node* entry = take(name))
        {
            value = chosenWord(*entry, pathOf(name), words);
        }
    }

    void block(const std::string& name, const std::string&,
        const std::function<void(Schema&)>& describe) override
    {
        Reader reader(blockOf(name), pathOf(name));
        describe(reader);
        reader.finish();
    }

    void required(const std::string& name) override
    {
        if (!node_.find(name))
        {
            missing_.push_back(name);
        }
    }

    void check(const std::function<std::string()>& complaint) override
    {
        checks_.push_back(complaint);
    }

    void finish() const
    {
        for (const auto& entry : node_.entries)
        {
            if (std::find(known_.begin(), known_.end(), entry.first) == known_.end())
            {
                fail(entry.second, pathOf(entry.first), "is not known; did you mean '"
                    + nearest(entry.first, known_) + "'? Known here: " + join(sorted(known_)));
            }
        }
        if (!missing_.empty())
        {
            fail(node_, pathOf(missing_.front()), "is missing; it has no default");
        }
        for (const auto& check : checks_)
        {
            const std::string complaint = check();
            if (!complaint.empty())
            {
                fail(node_, path_ + ':', complaint);
            }
        }
    }

protected:

    void typedBlock(const std::string& name, const std::string&, Options* current,
        const std::vector<Alternative>& alternatives, const std::string&) override
    {
        std::vector<std::string> words;
        for (const Alternative& alternative : alternatives)
        {
            words.push_back(alternative.word);
        }

        const Node* entry = take(name);
        if (entry && entry->kind == Node::Kind::scalar)
        {
            fail(*entry, pathOf(name), "is a single value; write a block: "
                + name + " { type " + entry->text + "; }");
        }

        Reader reader(blockOf(name), pathOf(name));
        if (const Node* type = reader.take("type"))
        {
            const std::string word = chosenWord(*type, reader.pathOf("type"), words);
            const auto chosen = std::find(words.begin(), words.end(), word) - words.begin();
            current = &alternatives[chosen].choose();
        }
        if (!current)
        {
            fail(reader.node_, reader.pathOf("type"), "is missing; one of: " + join(words));
        }
        current->describe(reader);
        reader.finish();
    }

private:

    std::string pathOf(const std::string& name) const { return path_ + '.' + name; }

    //- The entry of that name, which counts as known from now on
    const Node* take(const std::string& name)
    {
        known_.push_back(name);
        return node_.find(name);
    }

    //- The block of that name, or an empty one in the place of its parent
    const Node& blockOf(const std::string& name)
    {
        if (const Node* entry = take(name))
        {
            return *entry;
        }
        empty_ = Node::block(node_.file, node_.line);
        return empty_;
    }

    template<class T, class Parse>
    void readList(const std::string& name, std::vector<T>& value, const Parse& parse)
    {
        const Node* entry = take(name);
        if (!entry)
        {
            return;
        }
        if (entry->kind == Node::Kind::block)
        {
            fail(*entry, pathOf(name), "is a block; a list is wanted");
        }
        if (entry->kind == Node::Kind::scalar)
        {
            fail(*entry, pathOf(name), "is a single value; a list is wanted: "
                + name + " (" + entry->text + "), in YAML [" + entry->text + ']');
        }
        value.clear();
        for (const Node& item : entry->items)
        {
            value.push_back(parse(item));
        }
    }

    static std::string chosenWord(const Node& node, const std::string& path,
        const std::vector<std::string>& words)
    {
        const std::string& word = scalarText(node, path);
        if (std::find(words.begin(), words.end(), word) == words.end())
        {
            fail(node, path, '\'' + word + "' is not known; one of: " + join(words));
        }
        return word;
    }

    static std::vector<std::string> sorted(std::vector<std::string> words)
    {
        std::sort(words.begin(), words.end());
        words.erase(std::unique(words.begin(), words.end()), words.end());
        return words;
    }

    const Node& node_;
    std::string path_;
    std::vector<std::string> known_;
    std::vector<std::string> missing_;
    std::vector<std::function<std::string()>> checks_;
    Node empty_;
};

}


void readConfig
(
    const Node& node,
    const std::string& path,
    const std::function<void(Schema&)>& describe,
    const std::vector<std::string>& hostKeys
)
{
    Reader reader(node, path, hostKeys);
    describe(reader);
    reader.finish();
}

}
