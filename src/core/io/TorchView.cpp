// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/TorchView.hpp"

#include <algorithm>
#include <cstring>

namespace inSitu
{
namespace
{

float fromHalf(std::uint16_t bits)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
    std::uint32_t exponent = bits >> 10 & 0x1F;
    std::uint32_t fraction = bits & 0x3FF;
    if (exponent == 0x1F)
    {
        exponent = 0xFF;
    }
    else if (exponent > 0)
    {
        exponent += 127 - 15;
    }
    else if (fraction > 0)
    {
        // Subnormal numbers of half precision are normal ones here
        exponent = 127 - 14;
        while ((fraction & 0x400) == 0)
        {
            fraction <<= 1;
            --exponent;
        }
        fraction &= 0x3FF;
    }
    const std::uint32_t wide = sign | exponent << 23 | fraction << 13;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
}


float fromBfloat16(std::uint16_t bits)
{
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
}


template<class Stored, class Kept, Kept convert(Stored)>
void convertOne(const char* from, char* to)
{
    Stored stored;
    std::memcpy(&stored, from, sizeof(stored));
    const Kept kept = convert(stored);
    std::memcpy(to, &kept, sizeof(kept));
}


std::int32_t widened(std::int8_t value)
{
    return value;
}


std::uint8_t truth(std::uint8_t value)
{
    return value != 0;
}


std::size_t countOf(const std::vector<std::int64_t>& sizes)
{
    std::size_t count = 1;
    for (const std::int64_t size : sizes)
    {
        count *= static_cast<std::size_t>(size);
    }
    return count;
}


bool isContiguous(const TorchView& view)
{
    std::int64_t expected = 1;
    for (std::size_t d = view.sizes.size(); d-- > 0;)
    {
        if (view.sizes[d] != 1 && view.strides[d] != expected)
        {
            return false;
        }
        expected *= view.sizes[d];
    }
    return true;
}

}


const std::vector<TorchType>& torchTypes()
{
    using Type = StateTree::Type;
    static const std::vector<TorchType> types =
    {
        {"torch.FloatStorage", 4, Type::float32, nullptr},
        {"torch.DoubleStorage", 8, Type::float64, nullptr},
        {"torch.LongStorage", 8, Type::int64, nullptr},
        {"torch.IntStorage", 4, Type::int32, nullptr},
        {"torch.ByteStorage", 1, Type::uint8, nullptr},
        {"torch.BoolStorage", 1, Type::uint8, convertOne<std::uint8_t, std::uint8_t, truth>},
        {"torch.CharStorage", 1, Type::int32, convertOne<std::int8_t, std::int32_t, widened>},
        {"torch.HalfStorage", 2, Type::float32, convertOne<std::uint16_t, float, fromHalf>},
        {"torch.BFloat16Storage", 2, Type::float32, convertOne<std::uint16_t, float, fromBfloat16>}
    };
    return types;
}


std::string TorchView::fault() const
{
    if (sizes.size() != strides.size())
    {
        return "has " + std::to_string(sizes.size()) + " sizes and "
            + std::to_string(strides.size()) + " strides";
    }

    const std::size_t stored = storage.size()/type->bytes;
    const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    std::int64_t count = 1;
    std::int64_t last = offset;
    bool overflow = false;
    for (std::size_t d = 0; d < sizes.size() && !empty; ++d)
    {
        std::int64_t span = 0;
        overflow = overflow || __builtin_mul_overflow(sizes[d], count, &count)
            || __builtin_mul_overflow(sizes[d] - 1, strides[d], &span)
            || __builtin_add_overflow(last, span, &last);
    }
    if (overflow || static_cast<std::uint64_t>(last) + (empty ? 0 : 1) > stored)
    {
        return "reaches beyond its storage of " + std::to_string(stored) + " elements";
    }
    if (!empty && static_cast<std::uint64_t>(count) > stored)
    {
        return "repeats elements of its storage; save a copy of it (.clone())";
    }
    return {};
}


std::size_t TorchView::bytes() const
{
    return countOf(sizes)*bytesOf(type->kept);
}


StateTree::Array TorchView::copied() const
{
    const std::size_t count = countOf(sizes);
    const std::size_t kept = bytesOf(type->kept);
    const std::shared_ptr<char[]> memory(new char[std::max<std::size_t>(count*kept, 1)]);
    const char* const first = storage.data() + static_cast<std::size_t>(offset)*type->bytes;

    if (count == 0)
    {
        return {type->kept, sizes, memory};
    }
    if (!type->convert && isContiguous(*this))
    {
        std::memcpy(memory.get(), first, count*kept);
        return {type->kept, sizes, memory};
    }

    std::vector<std::int64_t> place(sizes.size(), 0);
    std::int64_t element = 0;
    for (std::size_t i = 0; i < count; ++i)
    {
        const char* const from = first + static_cast<std::size_t>(element)*type->bytes;
        char* const to = memory.get() + i*kept;
        type->convert ? type->convert(from, to) : static_cast<void>(std::memcpy(to, from, kept));

        for (std::size_t d = place.size(); d-- > 0;)
        {
            element += strides[d];
            if (++place[d] < sizes[d])
            {
                break;
            }
            element -= place[d]*strides[d];
            place[d] = 0;
        }
    }
    return {type->kept, sizes, memory};
}

}
