// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/StateTree.hpp"

#include "base/Error.hpp"

#include <cstring>

namespace inSitu
{
namespace
{

template<class T> constexpr StateTree::Type typeOf();
template<> constexpr StateTree::Type typeOf<float>() { return StateTree::Type::float32; }
template<> constexpr StateTree::Type typeOf<double>() { return StateTree::Type::float64; }
template<> constexpr StateTree::Type typeOf<std::int32_t>() { return StateTree::Type::int32; }
template<> constexpr StateTree::Type typeOf<std::int64_t>() { return StateTree::Type::int64; }
template<> constexpr StateTree::Type typeOf<std::uint8_t>() { return StateTree::Type::uint8; }


const char* nameOf(StateTree::Type type)
{
    switch (type)
    {
        case StateTree::Type::float32: return "float32";
        case StateTree::Type::float64: return "float64";
        case StateTree::Type::int32: return "int32";
        case StateTree::Type::int64: return "int64";
        case StateTree::Type::uint8: return "uint8";
    }
    throw Error("a state entry has an unknown type");
}


std::shared_ptr<const void> copied(const void* source, std::size_t bytes)
{
    std::shared_ptr<std::uint8_t[]> memory(new std::uint8_t[bytes]);
    if (bytes > 0)
    {
        std::memcpy(memory.get(), source, bytes);
    }
    return memory;
}


template<class T>
const StateTree::Array& typed(const StateTree& tree, const std::string& name)
{
    const StateTree::Array& array = tree.getArray(name);
    if (array.type != typeOf<T>())
    {
        throw Error("state entry '" + name + "' is of type " + nameOf(array.type)
            + ", expected " + nameOf(typeOf<T>()));
    }
    return array;
}


template<class T>
T scalar(const StateTree& tree, const std::string& name)
{
    T value;
    tree.get(name, Span<T>(&value, 1));
    return value;
}

}


std::size_t bytesOf(StateTree::Type type)
{
    switch (type)
    {
        case StateTree::Type::float32:
        case StateTree::Type::int32: return 4;
        case StateTree::Type::float64:
        case StateTree::Type::int64: return 8;
        case StateTree::Type::uint8: return 1;
    }
    throw Error("a state entry has an unknown type");
}


std::size_t StateTree::Array::count() const
{
    std::size_t n = 1;
    for (const std::int64_t extent : shape)
    {
        n *= static_cast<std::size_t>(extent);
    }
    return n;
}


std::size_t StateTree::Array::bytes() const
{
    return count()*bytesOf(type);
}


template<class T>
void StateTree::put
(
    const std::string& name,
    Span<const T> values,
    std::optional<std::vector<std::int64_t>> shape
)
{
    Array array;
    array.type = typeOf<T>();
    array.shape = shape ? *shape : std::vector{static_cast<std::int64_t>(values.size())};
    if (array.count() != values.size())
    {
        throw Error("state entry '" + name + "' has " + std::to_string(values.size())
            + " values, but its shape holds " + std::to_string(array.count()));
    }
    array.data = copied(values.data(), array.bytes());
    putArray(name, std::move(array));
}


void StateTree::putInt(const std::string& name, std::int64_t value)
{
    put(name, Span<const std::int64_t>(&value, 1), std::vector<std::int64_t>{});
}


void StateTree::putDouble(const std::string& name, double value)
{
    put(name, Span<const double>(&value, 1), std::vector<std::int64_t>{});
}


void StateTree::putText(const std::string& name, const std::string& text)
{
    texts_[name] = text;
}


void StateTree::putArray(const std::string& name, Array array)
{
    arrays_[name] = std::move(array);
}


void StateTree::putTree(const std::string& prefix, const StateTree& tree)
{
    for (const auto& [name, array] : tree.arrays_)
    {
        putArray(prefix + '/' + name, array);
    }
    for (const auto& [name, text] : tree.texts_)
    {
        putText(prefix + '/' + name, text);
    }
}


bool StateTree::has(const std::string& name) const
{
    return arrays_.count(name) > 0 || texts_.count(name) > 0;
}


template<class T>
std::vector<T> StateTree::get(const std::string& name) const
{
    std::vector<T> values(typed<T>(*this, name).count());
    get(name, Span<T>(values));
    return values;
}


template<class T>
void StateTree::get(const std::string& name, Span<T> values) const
{
    const Array& array = typed<T>(*this, name);
    if (array.count() != values.size())
    {
        throw Error("state entry '" + name + "' has " + std::to_string(array.count())
            + " values, expected " + std::to_string(values.size()));
    }
    if (!values.empty())
    {
        std::memcpy(values.data(), array.data.get(), array.bytes());
    }
}


std::int64_t StateTree::getInt(const std::string& name) const
{
    return scalar<std::int64_t>(*this, name);
}


double StateTree::getDouble(const std::string& name) const
{
    return scalar<double>(*this, name);
}


std::string StateTree::getText(const std::string& name) const
{
    const auto found = texts_.find(name);
    if (found == texts_.end())
    {
        throw Error("state has no text '" + name + "'");
    }
    return found->second;
}


const StateTree::Array& StateTree::getArray(const std::string& name) const
{
    const auto found = arrays_.find(name);
    if (found == arrays_.end())
    {
        throw Error("state has no array '" + name + "'");
    }
    return found->second;
}


StateTree StateTree::subTree(const std::string& prefix) const
{
    const std::string path = prefix + '/';
    const auto below = [&](const auto& from, auto& to)
    {
        for (auto entry = from.lower_bound(path);
            entry != from.end() && entry->first.compare(0, path.size(), path) == 0; ++entry)
        {
            to[entry->first.substr(path.size())] = entry->second;
        }
    };

    StateTree tree;
    below(arrays_, tree.arrays_);
    below(texts_, tree.texts_);
    return tree;
}


std::size_t StateTree::bytes() const
{
    std::size_t total = 0;
    for (const auto& [name, array] : arrays_)
    {
        total += array.bytes();
    }
    for (const auto& [name, text] : texts_)
    {
        total += text.size();
    }
    return total;
}


#define INSTANTIATE(T)                                                                  \
    template void StateTree::put<T>(const std::string&, Span<const T>,                  \
        std::optional<std::vector<std::int64_t>>);                                      \
    template std::vector<T> StateTree::get<T>(const std::string&) const;                \
    template void StateTree::get<T>(const std::string&, Span<T>) const;

INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
INSTANTIATE(std::uint8_t)

#undef INSTANTIATE

}
