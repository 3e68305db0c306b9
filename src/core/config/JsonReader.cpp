// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/JsonReader.hpp"

#include "base/Error.hpp"
#include "config/Json.hpp"

#include <set>

namespace inSitu
{
namespace
{

constexpr int maximumDepth = 64;


//- UTF-8 of a code point
std::string encoded(unsigned long code)
{
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80)
    {
        return {static_cast<char>(code)};
    }
    if (code < 0x800)
    {
        return {static_cast<char>(0xC0 | code >> 6), tail(0)};
    }
    if (code < 0x10000)
    {
        return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
    }
    return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}


class Reader
{
public:

    Reader(std::string_view text, const std::string& name)
    :
        text_(text),
        name_(name)
    {}

    Node document()
    {
        Node node = value(0);
        skipBlanks();
        if (at_ < text_.size())
        {
            fail("has text behind its end");
        }
        return node;
    }

private:

    [[noreturn]] void fail(const std::string& message) const
    {
        throw ConfigError(name_, line_, message);
    }

    void skipBlanks()
    {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'
            || text_[at_] == '\r' || text_[at_] == '\n'))
        {
            line_ += text_[at_++] == '\n';
        }
    }

    //- The next character that is no blank; 0 at the end
    char next()
    {
        skipBlanks();
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    bool take(char c)
    {
        const bool found = next() == c;
        at_ += found;
        return found;
    }

    void expect(char c)
    {
        if (!take(c))
        {
            fail(std::string("is not valid JSON: '") + c + "' is missing");
        }
    }

    Node value(int depth)
    {
        if (depth > maximumDepth)
        {
            fail("is nested too deeply");
        }
        switch (next())
        {
            case '{': return block(depth);
            case '[': return list(depth);
            case '"':
            {
                const int line = line_;
                Node node = Node::scalar(string(), name_, line);
                node.quoted = true;
                return node;
            }
        }
        return word();
    }

    Node block(int depth)
    {
        expect('{');
        Node node = Node::block(name_, line_);
        std::set<std::string> keys;
        while (!take('}'))
        {
            if (!keys.empty())
            {
                expect(',');
            }
            if (next() != '"')
            {
                fail("is not valid JSON: a key in quotes is missing");
            }
            std::string key = string();
            if (!keys.insert(key).second)
            {
                fail("has the key " + jsonString(key) + " twice; remove one");
            }
            expect(':');
            node.add(std::move(key), value(depth + 1));
        }
        return node;
    }

    Node list(int depth)
    {
        expect('[');
        Node node = Node::list({}, name_, line_);
        while (!take(']'))
        {
            if (!node.items.empty())
            {
                expect(',');
            }
            node.items.push_back(value(depth + 1));
        }
        return node;
    }

    //- A number, true, false or null
    Node word()
    {
        const std::size_t begin = at_;
        while (at_ < text_.size() && std::string_view(" \t\r\n,]}:[{\"").find(text_[at_])
            == std::string_view::npos)
        {
            ++at_;
        }
        const std::string_view written = text_.substr(begin, at_ - begin);
        if (written == "null")
        {
            return Node::scalar("", name_, line_);
        }
        if (written != "true" && written != "false" && written != "NaN"
         && written != "Infinity" && written != "-Infinity" && !isJsonNumber(written))
        {
            fail("is not valid JSON at " + jsonString(written.empty() ? text_.substr(begin, 1)
                : written.substr(0, 20)));
        }
        return Node::scalar(std::string(written), name_, line_);
    }

    std::string string()
    {
        ++at_;
        std::string content;
        while (true)
        {
            if (at_ >= text_.size())
            {
                fail("ends within a text");
            }
            const char c = text_[at_++];
            if (c == '"')
            {
                return content;
            }
            if (static_cast<unsigned char>(c) < 0x20)
            {
                fail("has a control character in a text");
            }
            content += c == '\\' ? escape() : std::string(1, c);
        }
    }

    std::string escape()
    {
        const char c = at_ < text_.size() ? text_[at_++] : '\0';
        switch (c)
        {
            case '"': case '\\': case '/': return {c};
            case 'b': return "\b";
            case 'f': return "\f";
            case 'n': return "\n";
            case 'r': return "\r";
            case 't': return "\t";
            case 'u': return codePoint();
        }
        fail("has an unknown escape in a text");
    }

    unsigned long fourDigits()
    {
        unsigned long code = 0;
        for (int i = 0; i < 4; ++i)
        {
            const char c = at_ < text_.size() ? text_[at_++] : '\0';
            const auto digit = std::string_view("0123456789abcdef")
                .find(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
            if (digit == std::string_view::npos)
            {
                fail("has an escape without four hexadecimal digits");
            }
            code = 16*code + digit;
        }
        return code;
    }

    //- Behind "\u"; a code point beyond 0xFFFF is a pair of surrogates
    std::string codePoint()
    {
        const unsigned long first = fourDigits();
        if (first < 0xD800 || first > 0xDFFF)
        {
            return encoded(first);
        }
        if (first < 0xDC00 && text_.substr(at_, 2) == "\\u")
        {
            at_ += 2;
            const unsigned long second = fourDigits();
            if (second >= 0xDC00 && second <= 0xDFFF)
            {
                return encoded(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
            }
        }
        fail("has half a character in a text");
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
    int line_ = 1;
};

}


Node parseJson(std::string_view text, const std::string& name)
{
    return Reader(text, name).document();
}

}
