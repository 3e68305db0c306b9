// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/StateDictionaryPickle.hpp"

#include "io/TorchView.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

void appendNumber(std::string& bytes, std::uint64_t value, int size)
{
    for (int i = 0; i < size; ++i)
    {
        bytes += static_cast<char>(value >> 8*i & 0xFF);
    }
}


//- BINUNICODE
void appendText(std::string& bytes, const std::string& text)
{
    bytes += 'X';
    appendNumber(bytes, text.size(), 4);
    bytes += text;
}


//- BININT or LONG1
void appendInteger(std::string& bytes, std::int64_t value)
{
    if (value >= INT32_MIN && value <= INT32_MAX)
    {
        bytes += 'J';
        appendNumber(bytes, static_cast<std::uint64_t>(value), 4);
        return;
    }
    bytes += "\x8A\x08";
    appendNumber(bytes, static_cast<std::uint64_t>(value), 8);
}


void appendTuple(std::string& bytes, const std::vector<std::int64_t>& values)
{
    bytes += '(';
    for (const std::int64_t value : values)
    {
        appendInteger(bytes, value);
    }
    bytes += 't';
}


std::vector<std::int64_t> contiguousStrides(const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;)
    {
        strides[d - 1] = strides[d]*std::max<std::int64_t>(shape[d], 1);
    }
    return strides;
}


std::string storageGlobal(StateTree::Type type)
{
    const auto found = std::find_if(torchTypes().begin(), torchTypes().end(),
        [&](const TorchType& candidate) { return candidate.kept == type; });
    const std::string name = found->name;
    return "ctorch\n" + name.substr(name.find('.') + 1) + '\n';
}

}


std::string stateDictionaryPickle(const NamedArrays& arrays)
{
    const std::string emptyDict = "ccollections\nOrderedDict\n)R";
    std::string bytes = "\x80\x02" + emptyDict + '(';
    for (std::size_t i = 0; i < arrays.size(); ++i)
    {
        const auto& [name, array] = arrays[i];
        appendText(bytes, name);
        bytes += "ctorch._utils\n_rebuild_tensor_v2\n((";
        appendText(bytes, "storage");
        bytes += storageGlobal(array.type);
        appendText(bytes, std::to_string(i));
        appendText(bytes, "cpu");
        appendInteger(bytes, static_cast<std::int64_t>(array.count()));
        bytes += "tQ";
        appendInteger(bytes, 0);
        appendTuple(bytes, array.shape);
        appendTuple(bytes, contiguousStrides(array.shape));
        bytes += "\x89" + emptyDict + "tR";
    }
    return bytes + "u.";
}

}
