// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/scriptTensors.hpp"

#include "base/Error.hpp"
#include "io/Pickle.hpp"
#include "io/TorchView.hpp"

#include <algorithm>
#include <map>

namespace inSitu
{
namespace
{

using Value = Pickle::Value;
using Kind = Pickle::Kind;


std::size_t bytesOfElement(const std::string& typeName)
{
    static const std::map<std::string, std::size_t> furtherTypes{{"torch.ComplexHalfStorage", 4},
        {"torch.ComplexFloatStorage", 8}, {"torch.ComplexDoubleStorage", 16},
        {"torch.QInt8Storage", 1}, {"torch.QUInt8Storage", 1}, {"torch.QInt32Storage", 4}};
    const auto type = std::find_if(torchTypes().begin(), torchTypes().end(),
        [&](const TorchType& candidate) { return candidate.name == typeName; });
    if (type != torchTypes().end())
    {
        return type->bytes;
    }
    const auto further = furtherTypes.find(typeName);
    return further != furtherTypes.end() ? further->second : 0;
}


class Checker
{
public:

    Checker(const Pickle& pickle, const std::string& name,
        const std::function<std::size_t(const std::string&)>& sizeOf)
    :
        pickle_(pickle),
        name_(name),
        sizeOf_(sizeOf)
    {}

    void check() const
    {
        for (const Value& value : pickle_.values())
        {
            if (value.kind == Kind::persistent)
            {
                elements(value);
            }
            else if (value.kind == Kind::call && isTensor(pickle_[value.items[0]].text))
            {
                checkTensor(pickle_[value.items[1]].items);
            }
        }
    }

private:

    [[noreturn]] void fail(const std::string& what) const
    {
        throw Error('\'' + name_ + "' has " + what);
    }

    static bool isTensor(const std::string& callee)
    {
        return callee == "torch._utils._rebuild_tensor_v2"
            || callee == "torch._utils._rebuild_qtensor";
    }

    std::uint64_t count(Pickle::Index index) const
    {
        const Value& value = pickle_[index];
        if (value.kind != Kind::integer || value.integer < 0)
        {
            fail("a tensor with an offset, size or stride that is no count");
        }
        return static_cast<std::uint64_t>(value.integer);
    }

    //- In a storage, which is ('storage', type, record, device, elements)
    std::uint64_t elements(const Value& storage) const
    {
        const auto& id = pickle_[storage.items[0]].items;
        if (id.size() != 5 || pickle_[id[1]].kind != Kind::global
         || pickle_[id[2]].kind != Kind::text)
        {
            fail("a storage whose identifier is not known");
        }
        const std::size_t width = bytesOfElement(pickle_[id[1]].text);
        if (width == 0)
        {
            fail("a storage of the type " + shown(pickle_[id[1]].text) + ", which is not known");
        }
        const std::uint64_t stated = count(id[4]);
        if (stated > sizeOf_(pickle_[id[2]].text)/width)
        {
            fail("a storage of " + std::to_string(stated) + " elements, more than its record "
                + shown(pickle_[id[2]].text) + " holds");
        }
        return stated;
    }

    //- The arguments: storage, offset, sizes, strides, …
    void checkTensor(const std::vector<Pickle::Index>& arguments) const
    {
        if (arguments.size() < 4 || pickle_[arguments[0]].kind != Kind::persistent)
        {
            fail("a tensor without a storage");
        }
        const std::uint64_t room = elements(pickle_[arguments[0]]);
        const auto& sizes = pickle_[arguments[2]].items;
        const auto& strides = pickle_[arguments[3]].items;
        if (sizes.size() != strides.size())
        {
            fail("a tensor with other numbers of sizes and strides");
        }

        // The last element; sums beyond the room end early, so nothing overflows
        std::uint64_t last = count(arguments[1]);
        bool empty = false;
        bool beyond = last > room;
        for (std::size_t d = 0; d < sizes.size(); ++d)
        {
            const std::uint64_t size = count(sizes[d]);
            const std::uint64_t stride = count(strides[d]);
            empty = empty || size == 0;
            if (size > 1 && stride > 0)
            {
                beyond = beyond || stride > room || size - 1 > room/stride;
                last += beyond ? 0 : (size - 1)*stride;
                beyond = beyond || last > room;
            }
        }
        if (!empty && (beyond || last >= room))
        {
            fail("a tensor that goes beyond its storage of " + std::to_string(room) + " elements");
        }
    }

    const Pickle& pickle_;
    const std::string& name_;
    const std::function<std::size_t(const std::string&)>& sizeOf_;
};

}


void requireWholeTensors(std::string_view bytes, const std::string& name,
    const std::function<std::size_t(const std::string& record)>& sizeOf)
{
    const Pickle pickle(bytes, name);
    Checker(pickle, name, sizeOf).check();
}

}
