// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/Json.hpp"
#include "config/SchemaReader.hpp"

namespace inSitu
{
namespace
{

Node quoted(const std::string& text)
{
    Node node = Node::scalar(text);
    node.quoted = true;
    return node;
}


class Writer final : public Schema
{
public:

    Node node = Node::block();

    void key(const std::string& name, bool& value, const std::string&) override
    {
        node.add(name, Node::scalar(value ? "true" : "false"));
    }

    void key(const std::string& name, std::int64_t& value, const std::string&, Range) override
    {
        node.add(name, Node::scalar(std::to_string(value)));
    }

    void key(const std::string& name, double& value, const std::string&, Range) override
    {
        node.add(name, Node::scalar(jsonNumber(value)));
    }

    void key(const std::string& name, std::string& value, const std::string&) override
    {
        node.add(name, quoted(value));
    }

    void key(const std::string& name, std::vector<std::int64_t>& value, const std::string&,
        Range) override
    {
        addList(name, value, [](std::int64_t i) { return Node::scalar(std::to_string(i)); });
    }

    void key(const std::string& name, std::vector<std::string>& value,
        const std::string&) override
    {
        addList(name, value, quoted);
    }

    // As OpenFOAM writes them: a regular expression keeps its quotes
    void key(const std::string& name, std::vector<Pattern>& value, const std::string&) override
    {
        addList(name, value, [](const Pattern& pattern)
            { return quoted(pattern.isRegex ? '"' + pattern.text + '"' : pattern.text); });
    }

    void key(const std::string& name, std::optional<std::int64_t>& value,
        const std::string& meaning, Range range) override
    {
        if (value)
        {
            key(name, *value, meaning, range);
        }
    }

    void key(const std::string& name, std::optional<double>& value, const std::string& meaning,
        Range range) override
    {
        if (value)
        {
            key(name, *value, meaning, range);
        }
    }

    void choice(const std::string& name, std::string& value, const std::vector<std::string>&,
        const std::string&) override
    {
        node.add(name, quoted(value));
    }

    void block(const std::string& name, const std::string&,
        const std::function<void(Schema&)>& describe) override
    {
        node.add(name, writeConfig(describe));
    }

    void required(const std::string&) override {}

    void check(const std::vector<std::string>&, const std::function<std::string()>&) override {}

    void useless(const std::string&, const std::function<std::string()>&) override {}

protected:

    void typedBlock(const std::string& name, const std::string& typeName, Options* current,
        const std::vector<Alternative>&, const std::string&) override
    {
        if (!current)
        {
            return;
        }
        Writer writer;
        writer.node.add("type", quoted(typeName));
        current->describe(writer);
        node.add(name, std::move(writer.node));
    }

private:

    template<class T, class MakeNode>
    void addList(const std::string& name, const std::vector<T>& values, const MakeNode& makeNode)
    {
        Node list = Node::list({});
        for (const T& value : values)
        {
            list.items.push_back(makeNode(value));
        }
        node.add(name, std::move(list));
    }
};

}


Node writeConfig(const std::function<void(Schema&)>& describe)
{
    Writer writer;
    describe(writer);
    return std::move(writer.node);
}

}
