// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/SchemaReader.hpp"
#include "config/ScalarParser.hpp"
#include "config/nodeAt.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

//- The block that reading began with
struct Root
{
    std::string path;
    const std::function<void(Schema&)>& describe;
    const std::vector<std::string>& hostKeys;

    //- Blocks below it, in dots, with their keys
    std::vector<std::pair<std::string, std::string>> keys() const
    {
        std::vector<std::pair<std::string, std::string>> result;
        for (const std::string& key : hostKeys)
        {
            result.emplace_back(path, key);
        }
        for (const KeyDescription& key : describeConfig(describe))
        {
            const std::string full = path + '.' + key.path;
            const std::size_t dot = full.rfind('.');
            result.emplace_back(full.substr(0, dot), full.substr(dot + 1));
        }
        return result;
    }
};


//- Visits one block. Faults of a value are thrown at once; what can only be said of the
//  whole block (unknown keys, then missing ones, then checks over several) by finish().
class Reader final : public Schema
{
public:

    Reader(const Node& node, std::string path, const Root& root)
    :
        node_(node),
        path_(std::move(path)),
        root_(root)
    {
        if (path_ == root.path)
        {
            known_ = root.hostKeys;
        }
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
        Reader reader(blockOf(name), pathOf(name), root_);
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

    void check(const std::vector<std::string>& keys,
        const std::function<std::string()>& complaint) override
    {
        checks_.push_back({keys, complaint});
    }

    void useless(const std::string& name, const std::function<std::string()>& reason) override
    {
        useless_.emplace_back(name, reason);
    }

    void finish() const
    {
        for (const auto& entry : node_.entries)
        {
            if (std::find(known_.begin(), known_.end(), entry.first) == known_.end())
            {
                fail(entry.second, pathOf(entry.first),
                    suggestion(entry.first) + " Known here: " + join(sorted(known_)));
            }
        }
        if (!missing_.empty())
        {
            fail(node_, pathOf(missing_.front()), "is missing; it has no default");
        }
        for (const auto& [name, reason] : useless_)
        {
            const std::string text = node_.find(name) ? reason() : std::string();
            if (!text.empty())
            {
                fail(*node_.find(name), pathOf(name), "has no effect " + text);
            }
        }
        for (const Check& check : checks_)
        {
            const std::string complaint = check.complaint();
            if (!complaint.empty())
            {
                fail(placeOf(check.keys), path_ + ':', complaint);
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

        Reader reader(blockOf(name), pathOf(name), root_);
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

    struct Check
    {
        std::vector<std::string> keys;
        std::function<std::string()> complaint;
    };

    //- What to say of an unknown key: where it belongs, or the nearest one, here before elsewhere
    std::string suggestion(const std::string& name) const
    {
        const auto keys = root_.keys();
        std::vector<std::string> candidates = known_;
        for (const auto& [block, key] : keys)
        {
            candidates.push_back(key);
        }
        const std::string best = nearest(name, candidates);
        if (best.empty() || std::find(known_.begin(), known_.end(), best) != known_.end())
        {
            return "is not known" + didYouMean(name, known_);
        }

        std::vector<std::string> blocks;
        for (const auto& [block, key] : keys)
        {
            // training.optimizer[adam] is told from others of its kind only if this is one
            const std::string plain = block.substr(0, block.find('['));
            const std::string& place = plain == path_ ? block : plain;
            if (key == best && std::find(blocks.begin(), blocks.end(), place) == blocks.end())
            {
                blocks.push_back(place);
            }
        }
        const std::string where = "the block " + join(blocks, " or ");
        return best == name ? "is not known here; it belongs into " + where + '.'
            : "is not known; did you mean '" + best + "', in " + where + '?';
    }

    //- The first of these entries that is there; the block without any
    const Node& placeOf(const std::vector<std::string>& keys) const
    {
        for (const std::string& key : keys)
        {
            if (const Node* const entry = nodeAt(node_, key))
            {
                return *entry;
            }
        }
        return node_;
    }

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
    const Root& root_;
    std::vector<std::string> known_;
    std::vector<std::string> missing_;
    std::vector<Check> checks_;
    std::vector<std::pair<std::string, std::function<std::string()>>> useless_;
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
    const Root root{path, describe, hostKeys};
    Reader reader(node, path, root);
    describe(reader);
    reader.finish();
}

}
