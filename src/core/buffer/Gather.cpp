// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffer/Gather.hpp"

#include "base/Error.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace inSitu
{
namespace
{

// Rows converted at once: a constant, so that the inner loops have a known length and are
// vectorised by any compiler
constexpr int tileRows = 64;

// Rows of all fields that are written before going on: they stay in the nearest caches
constexpr std::int64_t bandRows = 2048;

constexpr int maxComponents = 9;

template<class Value>
using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;

template<class Value>
constexpr Bits<Value> exponentMask()
{
    return sizeof(Value) == 4
      ? static_cast<Bits<Value>>(0x7f800000U)
      : static_cast<Bits<Value>>(0x7ff0000000000000ULL);
}


// Part of a field that lies in one piece of memory, and where it goes
template<class Scalar, class Value>
struct Strip
{
    const Scalar* source;       // [n, nComponents]
    Value* target;              // [n, stride], first column of the block
    std::int64_t n;
    int stride;
    const double* reference;    // per column of the block
    const ColumnBlock* block;
};


// out[i] = Value(source[i] − shift[i]); true if one of them is not finite
template<class Scalar, class Value, int count>
[[gnu::always_inline]] inline bool convert
(
    const Scalar* __restrict source,
    const double* __restrict shift,
    Value* __restrict out
)
{
    for (int i = 0; i < count; ++i)
    {
        out[i] = static_cast<Value>(static_cast<double>(source[i]) - shift[i]);
    }

    // All bits of the exponent set: infinite or not a number
    constexpr Bits<Value> mask = exponentMask<Value>();
    Bits<Value> bad = 0;
    for (int i = 0; i < count; ++i)
    {
        Bits<Value> bits;
        std::memcpy(&bits, out + i, sizeof(bits));
        bad |= (bits & mask) == mask ? ~Bits<Value>(0) : Bits<Value>(0);
    }
    return bad != 0;
}


template<class Scalar, class Value, int nComponents>
[[gnu::always_inline]] inline bool gatherStrip(const Strip<Scalar, Value>& strip)
{
    constexpr int tileValues = tileRows*nComponents;
    const int nColumns = static_cast<int>(strip.block->components.size());

    alignas(64) double shift[tileValues];
    alignas(64) Value tile[tileValues];
    alignas(64) Scalar rest[tileValues] = {};

    std::fill(shift, shift + tileValues, 0.0);
    for (int k = 0; k < nColumns; ++k)
    {
        for (int row = 0; row < tileRows; ++row)
        {
            shift[row*nComponents + strip.block->components[k]] = strip.reference[k];
        }
    }

    bool bad = false;
    for (std::int64_t first = 0; first < strip.n; first += tileRows)
    {
        const int rows = static_cast<int>(std::min<std::int64_t>(tileRows, strip.n - first));
        const Scalar* source = strip.source + first*nComponents;
        if (rows < tileRows)
        {
            std::copy(source, source + rows*nComponents, rest);
            source = rest;
        }
        bad |= convert<Scalar, Value, tileValues>(source, shift, tile);

        Value* target = strip.target + first*strip.stride;
        if (nColumns == nComponents)
        {
            for (int row = 0; row < rows; ++row)
            {
                std::memcpy(target + row*static_cast<std::int64_t>(strip.stride),
                    tile + row*nComponents, nComponents*sizeof(Value));
            }
        }
        else
        {
            for (int k = 0; k < nColumns; ++k)
            {
                const Value* from = tile + strip.block->components[k];
                for (int row = 0; row < rows; ++row)
                {
                    target[row*static_cast<std::int64_t>(strip.stride) + k] =
                        from[row*nComponents];
                }
            }
        }
    }
    return bad;
}


template<class Scalar, class Value>
[[gnu::always_inline]] inline bool gatherAny(const Strip<Scalar, Value>& strip)
{
    switch (strip.block->nComponents)
    {
        case 1: return gatherStrip<Scalar, Value, 1>(strip);
        case 3: return gatherStrip<Scalar, Value, 3>(strip);
        case 6: return gatherStrip<Scalar, Value, 6>(strip);
        default: return gatherStrip<Scalar, Value, 9>(strip);
    }
}


template<class Scalar, class Value>
bool gatherBaseline(const Strip<Scalar, Value>& strip)
{
    return gatherAny(strip);
}


#if defined(__x86_64__)

template<class Scalar, class Value>
__attribute__((target("avx2")))
bool gatherAvx2(const Strip<Scalar, Value>& strip)
{
    return gatherAny(strip);
}


template<class Scalar, class Value>
bool gather(const Strip<Scalar, Value>& strip)
{
    static const bool avx2 = __builtin_cpu_supports("avx2");
    return avx2 ? gatherAvx2(strip) : gatherBaseline(strip);
}

#else

template<class Scalar, class Value>
bool gather(const Strip<Scalar, Value>& strip)
{
    return gatherBaseline(strip);
}

#endif


template<class Scalar>
std::int64_t rowsOf(const RowLayout& layout, const std::vector<FieldView<Scalar>>& views)
{
    if (layout.blocks.empty())
    {
        return 0;
    }
    const ColumnBlock& block = layout.blocks.front();
    const FieldView<Scalar>& view = views[block.field];
    std::size_t size = view.cells.size();
    if (layout.boundaryRows)
    {
        for (const Span<const Scalar>& patch : view.patches)
        {
            size += patch.size();
        }
    }
    return static_cast<std::int64_t>(size)/block.nComponents;
}


template<class Scalar>
void requireFit(const RowLayout& layout, const std::vector<FieldView<Scalar>>& views)
{
    for (const ColumnBlock& block : layout.blocks)
    {
        const int n = block.nComponents;
        if (n != 1 && n != 3 && n != 6 && n != maxComponents)
        {
            throw Error("a field of " + std::to_string(n)
                + " components cannot be gathered; known are 1, 3, 6 and 9");
        }
        if (block.field < 0 || static_cast<std::size_t>(block.field) >= views.size())
        {
            throw Error("the layout asks for field " + std::to_string(block.field)
                + " of " + std::to_string(views.size()) + " that were given");
        }
        if (layout.boundaryRows
         && views[block.field].patches.size() != views[layout.blocks[0].field].patches.size())
        {
            throw Error("field " + std::to_string(block.field)
                + " has another number of boundary patches than the first one");
        }
    }
}


// Call visit(strip, first row) for each contiguous piece of a block in row order, until it
// returns false
template<class Scalar, class Value, class Visit>
void forEachPiece
(
    const RowLayout& layout,
    const ColumnBlock& block,
    const FieldView<Scalar>& view,
    const Visit& visit
)
{
    const std::size_t nPatches = layout.boundaryRows ? view.patches.size() : 0;
    std::int64_t row = 0;
    for (std::size_t piece = 0; piece <= nPatches; ++piece)
    {
        const Span<const Scalar> values = piece == 0 ? view.cells : view.patches[piece - 1];
        const auto n = static_cast<std::int64_t>(values.size())/block.nComponents;
        if (!visit(values.data(), row, n))
        {
            return;
        }
        row += n;
    }
}


// First entry of a block that is not finite; differences: once the reference is taken off
template<class Scalar, class Value>
NonFinite find
(
    const RowLayout& layout,
    const ColumnBlock& block,
    const FieldView<Scalar>& view,
    const double* reference,
    bool differences
)
{
    NonFinite found;
    forEachPiece<Scalar, Value>(layout, block, view,
        [&](const Scalar* values, std::int64_t first, std::int64_t n)
        {
            for (std::int64_t row = 0; row < n; ++row)
            {
                for (std::size_t k = 0; k < block.components.size(); ++k)
                {
                    const int component = block.components[k];
                    const double value = values[row*block.nComponents + component];
                    const bool good = differences
                      ? std::isfinite(static_cast<Value>(value - reference[k]))
                      : std::isfinite(value);
                    if (!good)
                    {
                        found = {block.field, first + row, component};
                        return false;
                    }
                }
            }
            return true;
        });
    return found;
}


template<class Scalar, class Value>
NonFinite locate
(
    const RowLayout& layout,
    const std::vector<FieldView<Scalar>>& views,
    Span<const double> reference
)
{
    for (const bool differences : {false, true})
    {
        for (const ColumnBlock& block : layout.blocks)
        {
            const NonFinite found = find<Scalar, Value>(layout, block, views[block.field],
                &reference[block.firstColumn], differences);
            if (found.field >= 0)
            {
                return found;
            }
        }
    }
    return {};
}

}


RowLayout RowLayout::of
(
    const std::vector<FieldSpec>& specs,
    const std::vector<int>& fields,
    bool boundaryRows
)
{
    RowLayout layout;
    layout.boundaryRows = boundaryRows;
    for (const int field : fields)
    {
        const FieldSpec& spec = specs.at(field);
        layout.blocks.push_back({field, layout.nColumns, spec.nComponents, spec.components});
        layout.nColumns += spec.nColumns();
    }
    return layout;
}


template<class Scalar, class Value>
NonFinite gatherRows
(
    const RowLayout& layout,
    const std::vector<FieldView<Scalar>>& views,
    Span<const double> reference,
    Span<Value> rows
)
{
    requireFit(layout, views);
    const std::int64_t nRows = rowsOf(layout, views);
    const auto nColumns = static_cast<std::size_t>(layout.nColumns);
    if (reference.size() != nColumns || rows.size() != nRows*nColumns)
    {
        throw Error("a snapshot of " + std::to_string(nRows) + " rows and "
            + std::to_string(nColumns) + " columns does not fit " + std::to_string(rows.size())
            + " values and " + std::to_string(reference.size()) + " references");
    }

    const std::size_t nPieces = layout.blocks.empty() ? 0
      : 1 + (layout.boundaryRows ? views[layout.blocks[0].field].patches.size() : 0);

    bool bad = false;
    std::int64_t firstRow = 0;
    for (std::size_t piece = 0; piece < nPieces; ++piece)
    {
        const auto valuesOf = [&](const ColumnBlock& block)
        {
            const FieldView<Scalar>& view = views[block.field];
            return piece == 0 ? view.cells : view.patches[piece - 1];
        };
        const ColumnBlock& leader = layout.blocks[0];
        const auto n = static_cast<std::int64_t>(valuesOf(leader).size())/leader.nComponents;
        for (const ColumnBlock& block : layout.blocks)
        {
            if (valuesOf(block).size() != static_cast<std::size_t>(n)*block.nComponents)
            {
                throw Error("field " + std::to_string(block.field) + " has "
                    + std::to_string(valuesOf(block).size()) + " values where "
                    + std::to_string(n) + " rows of " + std::to_string(block.nComponents)
                    + " components are expected");
            }
        }

        for (std::int64_t band = 0; band < n; band += bandRows)
        {
            const std::int64_t length = std::min(bandRows, n - band);
            for (const ColumnBlock& block : layout.blocks)
            {
                bad |= gather(Strip<Scalar, Value>
                {
                    valuesOf(block).data() + band*block.nComponents,
                    rows.data() + (firstRow + band)*layout.nColumns + block.firstColumn,
                    length,
                    layout.nColumns,
                    &reference[block.firstColumn],
                    &block
                });
            }
        }
        firstRow += n;
    }
    return bad ? locate<Scalar, Value>(layout, views, reference) : NonFinite{};
}


template<class Scalar>
std::vector<double> columnSums
(
    const RowLayout& layout,
    const std::vector<FieldView<Scalar>>& views
)
{
    requireFit(layout, views);
    std::vector<double> sums(layout.nColumns, 0.0);
    for (const ColumnBlock& block : layout.blocks)
    {
        const Span<const Scalar> cells = views[block.field].cells;
        for (std::size_t first = 0; first < cells.size(); first += block.nComponents)
        {
            for (std::size_t k = 0; k < block.components.size(); ++k)
            {
                sums[block.firstColumn + k] += cells[first + block.components[k]];
            }
        }
    }
    return sums;
}


template NonFinite gatherRows(const RowLayout&, const std::vector<FieldView<float>>&,
    Span<const double>, Span<float>);
template NonFinite gatherRows(const RowLayout&, const std::vector<FieldView<float>>&,
    Span<const double>, Span<double>);
template NonFinite gatherRows(const RowLayout&, const std::vector<FieldView<double>>&,
    Span<const double>, Span<float>);
template NonFinite gatherRows(const RowLayout&, const std::vector<FieldView<double>>&,
    Span<const double>, Span<double>);
template std::vector<double> columnSums(const RowLayout&, const std::vector<FieldView<float>>&);
template std::vector<double> columnSums(const RowLayout&, const std::vector<FieldView<double>>&);

}
