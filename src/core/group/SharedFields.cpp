// SPDX-License-Identifier: GPL-3.0-or-later
#include "group/SharedFields.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace inSitu
{
namespace
{

// Blocks begin on cache lines of their own
constexpr std::size_t alignment = 64;

std::size_t aligned(std::size_t bytes)
{
    return (bytes + alignment - 1)/alignment*alignment;
}

}


SharedFields::SharedFields(std::shared_ptr<Comm> group, std::vector<int> nComponents,
    int resultColumns)
:
    group_(std::move(group)),
    nComponents_(std::move(nComponents)),
    resultColumns_(static_cast<std::size_t>(resultColumns))
{}


void SharedFields::setRows(std::int64_t nCells, std::int64_t nBoundary)
{
    nCells_ = nCells;
    nBoundary_ = nBoundary;
    stale_ = true;
}


template<class Scalar>
std::vector<double> SharedFields::sizesOf(const std::vector<FieldView<Scalar>>& views) const
{
    if (views.size() != nComponents_.size())
    {
        throw Error(std::to_string(views.size()) + " fields are shared, not "
            + std::to_string(nComponents_.size()));
    }
    std::vector<double> sizes;
    for (std::size_t field = 0; field < views.size(); ++field)
    {
        double patches = 0;
        for (const Span<const Scalar>& patch : views[field].patches)
        {
            patches += static_cast<double>(patch.size());
        }
        const double ofRows = static_cast<double>(nBoundary_)*nComponents_[field];
        if (patches < ofRows)
        {
            throw Error("shared field " + std::to_string(field) + " has "
                + std::to_string(patches/nComponents_[field]) + " faces for "
                + std::to_string(nBoundary_) + " boundary rows");
        }
        sizes.insert(sizes.end(),
            {static_cast<double>(views[field].cells.size()), ofRows, patches - ofRows});
    }
    return sizes;
}


template<class Scalar>
void SharedFields::layOut(const std::vector<FieldView<Scalar>>& views)
{
    sizes_ = sizesOf(views);
    const std::size_t nHere = sizes_.size() + 1;        // the cells come last
    const auto nRanks = static_cast<std::size_t>(group_->size());
    const auto self = static_cast<std::size_t>(group_->rank());
    std::vector<double> all(nHere*nRanks, 0.0);
    std::copy(sizes_.begin(), sizes_.end(), all.begin() + nHere*self);
    all[nHere*(self + 1) - 1] = static_cast<double>(nCells_);
    group_->sum(Span<double>(all));

    std::vector<std::size_t> first, number;             // of each block, over the ranks
    begin_.assign(sizes_.size(), 0);
    std::size_t bytes = 0;
    const auto place = [&](std::size_t block, std::size_t width)
    {
        first.push_back(bytes);
        number.push_back(0);
        std::size_t here = 0;
        for (std::size_t rank = 0; rank < nRanks; ++rank)
        {
            here = rank == self ? number.back() : here;
            number.back() += static_cast<std::size_t>(all[nHere*rank + block])*width;
        }
        return here;
    };
    for (std::size_t block = 0; block < sizes_.size(); ++block)
    {
        begin_[block] = place(block, 1);
        begin_[block] += first.back()/sizeof(Scalar);
        bytes += aligned(number.back()*sizeof(Scalar));
    }
    const std::size_t ownResult = place(sizes_.size(), resultColumns_);
    bytes += aligned(number.back()*sizeof(double));

    window_.reset();
    try
    {
        window_ = group_->shared(bytes);
    }
    catch (const AgreedError& noRoom)
    {
        // Agreed in this group only
        throw Error(noRoom.what() + std::string("; or leave trainerRanks out"));
    }
    auto* memory = static_cast<std::uint8_t*>(window_->data());
    const auto blockAt = [&](std::size_t block)
    {
        return Span<const Scalar>(reinterpret_cast<const Scalar*>(memory + first[block]),
            number[block]);
    };
    std::vector<FieldView<Scalar>>& united = viewsOf(Scalar());
    united.clear();
    for (std::size_t block = 0; block < sizes_.size(); block += nBlocks)
    {
        united.push_back({blockAt(block + cells),
            {blockAt(block + boundary), blockAt(block + coupled)}});
    }
    results_ = {reinterpret_cast<double*>(memory + first.back()), number.back()};
    ownResults_ = {results_.data() + ownResult,
        static_cast<std::size_t>(nCells_)*resultColumns_};
    stale_ = false;
}


template<class Scalar>
const std::vector<FieldView<Scalar>>& SharedFields::share(
    const std::vector<FieldView<Scalar>>& views)
{
    if (stale_)
    {
        layOut(views);
    }
    else if (sizesOf(views) != sizes_)
    {
        throw Error("shared fields have another size than at the time before, on the same mesh");
    }

    auto* memory = static_cast<Scalar*>(window_->data());
    for (std::size_t field = 0; field < views.size(); ++field)
    {
        const std::size_t* begin = &begin_[nBlocks*field];
        std::copy(views[field].cells.begin(), views[field].cells.end(), memory + begin[cells]);

        auto left = static_cast<std::size_t>(sizes_[nBlocks*field + boundary]);
        Scalar* ofRows = memory + begin[boundary];
        Scalar* others = memory + begin[coupled];
        for (const Span<const Scalar>& patch : views[field].patches)
        {
            const std::size_t n = std::min(left, patch.size());
            ofRows = std::copy(patch.begin(), patch.begin() + n, ofRows);
            others = std::copy(patch.begin() + n, patch.end(), others);
            left -= n;
        }
    }
    window_->meet();
    return viewsOf(Scalar());
}


Span<const double> SharedFields::meet()
{
    window_->meet();
    return ownResults_;
}


template const std::vector<FieldView<float>>& SharedFields::share(
    const std::vector<FieldView<float>>&);
template const std::vector<FieldView<double>>& SharedFields::share(
    const std::vector<FieldView<double>>&);

}
