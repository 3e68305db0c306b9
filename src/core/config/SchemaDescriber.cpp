// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/Json.hpp"
#include "config/SchemaReader.hpp"

namespace inSitu
{
namespace
{

template<class T, class Text>
std::string listText(const std::vector<T>& values, const Text& text)
{
    std::vector<std::string> words;
    for (const T& value : values)
    {
        words.push_back(text(value));
    }
    return '(' + join(words) + ')';
}


class Describer final : public Schema
{
public:

    Describer(std::string prefix, std::vector<KeyDescription>& keys)
    :
        prefix_(std::move(prefix)),
        keys_(keys)
    {}

    void key(const std::string& name, bool& value, const std::string& meaning) override
    {
        add(name, "boolean", value ? "yes" : "no", meaning);
    }

    void key(const std::string& name, std::int64_t& value, const std::string& meaning,
        Range range) override
    {
        add(name, ranged("integer", range), std::to_string(value), meaning);
    }

    void key(const std::string& name, double& value, const std::string& meaning,
        Range range) override
    {
        add(name, ranged("number", range), jsonNumber(value), meaning);
    }

    void key(const std::string& name, std::string& value, const std::string& meaning) override
    {
        add(name, "text", value.empty() ? "-" : value, meaning);
    }

    void key(const std::string& name, std::vector<std::int64_t>& value,
        const std::string& meaning, Range range) override
    {
        add(name, "list of " + ranged("integer", range),
            listText(value, [](std::int64_t i) { return std::to_string(i); }), meaning);
    }

    void key(const std::string& name, std::vector<std::string>& value,
        const std::string& meaning) override
    {
        add(name, "list of texts", listText(value, [](const auto& text) { return text; }),
            meaning);
    }

    void key(const std::string& name, std::vector<Pattern>& value,
        const std::string& meaning) override
    {
        add(name, "list of words, or regular expressions in quotes",
            listText(value, [](const Pattern& pattern) { return pattern.text; }), meaning);
    }

    void key(const std::string& name, std::optional<std::int64_t>&, const std::string& meaning,
        Range range) override
    {
        add(name, ranged("integer", range), "-", meaning);
    }

    void key(const std::string& name, std::optional<double>&, const std::string& meaning,
        Range range) override
    {
        add(name, ranged("number", range), "-", meaning);
    }

    void choice(const std::string& name, std::string& value,
        const std::vector<std::string>& words, const std::string& meaning) override
    {
        add(name, "word: " + join(words), value, meaning);
    }

    void block(const std::string& name, const std::string& meaning,
        const std::function<void(Schema&)>& describe) override
    {
        add(name, "block", "-", meaning);
        Describer describer(prefix_ + name + '.', keys_);
        describe(describer);
    }

    void required(const std::string& name) override
    {
        for (KeyDescription& key : keys_)
        {
            if (key.path == prefix_ + name)
            {
                key.defaultValue = "required";
            }
        }
    }

    void check(const std::vector<std::string>&, const std::function<std::string()>&) override {}

    void useless(const std::string&, const std::function<std::string()>&) override {}

protected:

    void typedBlock(const std::string& name, const std::string& typeName, Options* current,
        const std::vector<Alternative>& alternatives, const std::string& meaning) override
    {
        std::vector<std::string> words;
        for (const Alternative& alternative : alternatives)
        {
            words.push_back(alternative.word);
        }
        add(name + ".type", "word: " + join(words), current ? typeName : "required", meaning);

        for (const Alternative& alternative : alternatives)
        {
            Describer describer(prefix_ + name + '[' + alternative.word + "].", keys_);
            alternative.make()->describe(describer);
        }
    }

private:

    static std::string ranged(const std::string& type, const Range& range)
    {
        const std::string limits = range.text();
        return limits.empty() ? type : type + ' ' + limits;
    }

    void add(const std::string& name, std::string type, std::string defaultValue,
        std::string meaning)
    {
        keys_.push_back({prefix_ + name, std::move(type), std::move(defaultValue),
            std::move(meaning)});
    }

    std::string prefix_;
    std::vector<KeyDescription>& keys_;
};


//- As text of a Markdown table: neither a border nor the begin of an HTML tag
std::string cell(const std::string& text)
{
    std::string escaped;
    for (const char c : text)
    {
        escaped += c == '|' || c == '<' ? std::string{'\\', c} : std::string(1, c);
    }
    return escaped;
}

}


std::vector<KeyDescription> describeConfig(const std::function<void(Schema&)>& describe)
{
    std::vector<KeyDescription> keys;
    Describer describer("", keys);
    describe(describer);
    return keys;
}


std::string markdownTable(const std::vector<KeyDescription>& keys)
{
    std::string table = "| Key | Type | Default | Meaning |\n|---|---|---|---|\n";
    for (const KeyDescription& key : keys)
    {
        table += "| `" + cell(key.path) + "` | " + cell(key.type) + " | " + cell(key.defaultValue)
            + " | " + cell(key.meaning) + " |\n";
    }
    return table;
}

}
