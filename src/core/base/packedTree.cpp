// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/packedTree.hpp"

#include "base/Error.hpp"

#include <cstring>
#include <memory>
#include <string>

namespace inSitu
{
namespace
{

class Writer
{
public:

    void number(std::int64_t value) { raw(&value, sizeof(value)); }

    void text(const std::string& value)
    {
        number(static_cast<std::int64_t>(value.size()));
        raw(value.data(), value.size());
    }

    void raw(const void* data, std::size_t n)
    {
        const auto* first = static_cast<const std::uint8_t*>(data);
        bytes.insert(bytes.end(), first, first + n);
    }

    Comm::Bytes bytes;
};


class Reader
{
public:

    explicit Reader(const Comm::Bytes& bytes)
    :
        bytes_(bytes)
    {}

    std::int64_t number()
    {
        std::int64_t value;
        std::memcpy(&value, raw(sizeof(value)), sizeof(value));
        return value;
    }

    std::string text()
    {
        const std::int64_t n = number();
        const std::uint8_t* first = raw(n);
        return {first, first + n};
    }

    const std::uint8_t* raw(std::int64_t n)
    {
        if (n < 0 || static_cast<std::uint64_t>(n) > bytes_.size() - position_)
        {
            throw Error("a tree of values that another rank has sent is cut off");
        }
        const std::uint8_t* first = bytes_.data() + position_;
        position_ += static_cast<std::size_t>(n);
        return first;
    }

private:

    const Comm::Bytes& bytes_;
    std::size_t position_ = 0;
};

}


Comm::Bytes packed(const StateTree& tree)
{
    Writer out;
    out.bytes.reserve(tree.bytes());
    out.number(static_cast<std::int64_t>(tree.texts().size()));
    for (const auto& [name, text] : tree.texts())
    {
        out.text(name);
        out.text(text);
    }
    out.number(static_cast<std::int64_t>(tree.arrays().size()));
    for (const auto& [name, array] : tree.arrays())
    {
        out.text(name);
        out.number(static_cast<std::int64_t>(array.type));
        out.number(static_cast<std::int64_t>(array.shape.size()));
        for (const std::int64_t n : array.shape)
        {
            out.number(n);
        }
        out.raw(array.data.get(), array.bytes());
    }
    return out.bytes;
}


StateTree unpackedTree(const Comm::Bytes& bytes)
{
    StateTree tree;
    Reader in(bytes);
    for (std::int64_t n = in.number(); n > 0; --n)
    {
        const std::string name = in.text();
        tree.putText(name, in.text());
    }
    for (std::int64_t n = in.number(); n > 0; --n)
    {
        const std::string name = in.text();
        StateTree::Array array;
        const std::int64_t type = in.number();
        array.type = static_cast<StateTree::Type>(type);
        if (static_cast<std::int64_t>(array.type) != type)
        {
            throw Error("a tree of values that another rank has sent has an unknown type");
        }
        for (std::int64_t k = in.number(); k > 0; --k)
        {
            array.shape.push_back(in.number());
        }
        const std::uint8_t* first = in.raw(static_cast<std::int64_t>(array.bytes()));
        const auto values = std::make_shared<Comm::Bytes>(first, first + array.bytes());
        array.data = {values, values->data()};
        tree.putArray(name, std::move(array));
    }
    return tree;
}

}
