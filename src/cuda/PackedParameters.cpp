// SPDX-License-Identifier: GPL-3.0-or-later
#include "PackedParameters.hpp"

#include <algorithm>

namespace inSitu
{
namespace device
{

template<class T>
std::int64_t PackedParameters<T>::take(std::int64_t& size, std::int64_t n)
{
    // Products are fastest if matrices start on 256 bytes
    const std::int64_t begin = (size + 255)/256*256;
    size = begin + n;
    return begin;
}


template<class T>
LinearPlace PackedParameters<T>::addLinear(const std::string& prefix,
    std::vector<Part> parts)
{
    const ParameterSet::Entry& weight = parameters_.entry(prefix + ".weight");
    const ParameterSet::Entry& bias = parameters_.entry(prefix + ".bias");
    const std::int64_t out = weight.shape[0];
    if (parts.empty())
    {
        parts.push_back({0, static_cast<int>(weight.shape[1])});
    }

    LinearPlace place;
    place.out = paddedColumns(static_cast<int>(out));
    place.in = 0;
    for (const Part& part : parts)
    {
        place.in += paddedColumns(part.columns);
    }
    place.weight = take(packedSize_, static_cast<std::int64_t>(place.out)*place.in);
    std::int64_t column = 0;
    for (const Part& part : parts)
    {
        segments_.push_back({weight.offset + part.firstColumn, out, part.columns, weight.shape[1],
            place.weight + column, place.in, -1});
        column += paddedColumns(part.columns);
    }
    place.bias = take(packedSize_, place.out);
    place.biasVector = take(vectorsSize_, place.out);
    segments_.push_back({bias.offset, 1, out, out, place.bias, out, place.biasVector});
    return place;
}


template<class T>
LinearPlace PackedParameters<T>::addStacked(const std::string& name,
    const std::vector<Part>& parts)
{
    const ParameterSet::Entry& weight = parameters_.entry(name);
    const std::int64_t out = weight.shape[0];
    const int padded = paddedColumns(static_cast<int>(out));

    LinearPlace place;
    place.in = paddedColumns(parts.front().columns);
    place.out = padded*static_cast<int>(parts.size());
    place.weight = take(packedSize_, static_cast<std::int64_t>(place.out)*place.in);
    std::int64_t row = 0;
    for (const Part& part : parts)
    {
        segments_.push_back({weight.offset + part.firstColumn, out, part.columns, weight.shape[1],
            place.weight + row*place.in, place.in, -1});
        row += padded;
    }
    return place;
}


template<class T>
std::int64_t PackedParameters<T>::addVector(const std::string& name)
{
    const ParameterSet::Entry& e = parameters_.entry(name);
    const std::int64_t place = take(vectorsSize_, paddedColumns(static_cast<int>(e.count)));
    segments_.push_back({e.offset, 1, e.count, e.count, -1, e.count, place});
    return place;
}


template<class T>
int PackedParameters<T>::addSums(RowKind kind, int ld, const std::vector<std::string>& names)
{
    groups_.push_back({kind, ld, names});
    nSums_ += static_cast<int>(names.size());
    widestSum_ = std::max(widestSum_, ld);
    return static_cast<int>(groups_.size()) - 1;
}


template<class T>
void PackedParameters<T>::allocate(const at::Device& device)
{
    device_ = device;
    const auto zeroed = [&](auto& buffer, std::int64_t n)
    {
        auto* data = buffer.resize(n, device);
        at::from_blob(data, {n*static_cast<std::int64_t>(sizeof(*data))},
            at::dtype(at::kByte).device(device)).zero_();
    };
    zeroed(packed_, packedSize_);
    zeroed(vectors_, vectorsSize_);
    zeroed(gradients_, packedSize_);
    segmentsThere_ = uploaded(segments_.data(), segments_.size(), device);
}


template<class T>
void PackedParameters<T>::pack(Stream stream, const A* flat)
{
    packParameters<T>(stream, static_cast<const Segment*>(segmentsThere_.const_data_ptr()),
        static_cast<int>(segments_.size()), flat, packed_.data(), vectors_.data());
}


template<class T>
typename PackedParameters<T>::Sums PackedParameters<T>::sumsFor(const RowCounts& rows) const
{
    Sums result{rows, {}, {}, 0};
    std::vector<ColumnSum> sums;
    for (const Group& group : groups_)
    {
        const std::int64_t stride = static_cast<std::int64_t>(group.names.size())*group.ld;
        const int count = partialCount<T>(rows.of(group.kind), group.ld);
        const std::int64_t partial = take(result.size, count*stride);
        result.partial.push_back(partial);
        for (std::size_t i = 0; i < group.names.size(); ++i)
        {
            const ParameterSet::Entry& e = parameters_.entry(group.names[i]);
            sums.push_back({e.offset, e.count, partial + static_cast<std::int64_t>(i)*group.ld,
                stride, count});
        }
    }
    result.there = uploaded(sums.data(), sums.size(), device_);
    return result;
}


template<class T>
void PackedParameters<T>::prepare(const RowCounts& rows)
{
    const auto found = std::find_if(sums_.begin(), sums_.end(),
        [&](const Sums& sums) { return sums.rows == rows; });
    if (found != sums_.end())
    {
        std::rotate(sums_.begin(), found, found + 1);
        return;
    }
    if (sums_.size() == maxSums)
    {
        sums_.pop_back();
        ++memoryStamp();
    }
    sums_.insert(sums_.begin(), sumsFor(rows));
    partial_.resize(std::max<std::int64_t>(sums_.front().size, 1), device_);
}


template<class T>
void PackedParameters<T>::finish(Stream stream, A* flat)
{
    unpackGradients<A>(stream, static_cast<const Segment*>(segmentsThere_.const_data_ptr()),
        static_cast<int>(segments_.size()), gradients_.data(), flat);
    finishSums<A>(stream, static_cast<const ColumnSum*>(sums_.front().there.const_data_ptr()), nSums_,
        widestSum_, partial_.data(), flat);
}

#ifndef INSITU_CUDA_EMULATED
template class PackedParameters<Float16>;
#endif
template class PackedParameters<double>;
template class PackedParameters<float>;
template class PackedParameters<BFloat16>;

}
}
