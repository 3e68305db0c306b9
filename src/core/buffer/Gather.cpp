// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffer/Gather.hpp"

#include "base/Error.hpp"
#include "buffer/Strip.hpp"

#include <algorithm>
#include <cmath>

namespace inSitu
{
namespace
{

// Piece 0 is the cells, piece i the faces of patch i − 1
template<class Scalar>
Span<const Scalar> valuesOf(const FieldView<Scalar>& view, std::size_t piece)
{
    return piece == 0 ? view.cells : view.patches[piece - 1];
}


template<class Scalar>
std::size_t nPieces(const RowLayout& layout, const FieldView<Scalar>& view)
{
    return layout.boundaryRows ? 1 + view.patches.size() : 1;
}


// The field whose sizes those of all others follow
template<class Scalar>
const FieldView<Scalar>& leading(const RowLayout& layout,
    const std::vector<FieldView<Scalar>>& views)
{
    return views[layout.blocks.front().field];
}


template<class Scalar>
std::int64_t rowsOf(const RowLayout& layout, const std::vector<FieldView<Scalar>>& views,
    std::size_t piece)
{
    return static_cast<std::int64_t>(valuesOf(leading(layout, views), piece).size())
        /layout.blocks.front().nComponents;
}


// Rows of the snapshot; throws Error if layout and views contradict each other
template<class Scalar>
std::int64_t checkedRows(const RowLayout& layout, const std::vector<FieldView<Scalar>>& views)
{
    std::int64_t nRows = 0;
    int nColumns = 0;
    for (const ColumnBlock& block : layout.blocks)
    {
        const std::string what = "field " + std::to_string(block.field);
        if (block.field < 0 || static_cast<std::size_t>(block.field) >= views.size())
        {
            throw Error(what + " of the layout is not among the "
                + std::to_string(views.size()) + " that were given");
        }
        const int n = block.nComponents;
        if (n != 1 && n != 3 && n != 6 && n != 9)
        {
            throw Error(what + " has " + std::to_string(n)
                + " components; 1, 3, 6 and 9 can be gathered");
        }
        for (const int component : block.components)
        {
            if (component < 0 || component >= n)
            {
                throw Error(what + " has no component " + std::to_string(component));
            }
        }
        if (block.firstColumn != nColumns)
        {
            throw Error(what + " starts at column " + std::to_string(block.firstColumn)
                + " instead of " + std::to_string(nColumns) + "; columns follow each other");
        }
        nColumns += static_cast<int>(block.components.size());

        const ColumnBlock& leader = layout.blocks.front();
        const FieldView<Scalar>& view = views[block.field];
        const FieldView<Scalar>& first = views[leader.field];
        bool fits = nPieces(layout, view) == nPieces(layout, first);
        for (std::size_t piece = 0; fits && piece < nPieces(layout, view); ++piece)
        {
            const std::size_t size = valuesOf(view, piece).size();
            fits = size*leader.nComponents == valuesOf(first, piece).size()*n && size % n == 0;
            nRows += &block == &leader ? static_cast<std::int64_t>(size)/n : 0;
        }
        if (!fits)
        {
            throw Error(what + " has another number of cells or boundary faces than the"
                " first field of the layout");
        }
    }
    if (nColumns != layout.nColumns)
    {
        throw Error("the layout has " + std::to_string(layout.nColumns) + " columns, but its"
            " fields fill " + std::to_string(nColumns));
    }
    return nRows;
}


// Gather a band of rows of one piece: runs of neighbouring components, four at most, a scalar
// field that follows a shorter one along with it
template<class Scalar, class Value>
bool gatherBand
(
    const RowLayout& layout,
    const std::vector<FieldView<Scalar>>& views,
    std::size_t piece,
    std::int64_t firstRow,
    std::int64_t nRows,
    const double* reference,
    Value* target
)
{
    const auto sourceOf = [&](const ColumnBlock& block)
    {
        return valuesOf(views[block.field], piece).data() + firstRow*block.nComponents;
    };

    bool bad = false;
    for (std::size_t b = 0; b < layout.blocks.size(); ++b)
    {
        const ColumnBlock& block = layout.blocks[b];
        const int n = static_cast<int>(block.components.size());
        for (int first = 0, next = 0; first < n; first = next)
        {
            const int component = block.components[first];
            while (next < n && next < first + stripWidth
                && block.components[next] == component + next - first)
            {
                ++next;
            }
            const int width = next - first;
            const bool follows = block.nComponents > 1 && next == n && width < stripWidth
                && b + 1 < layout.blocks.size() && layout.blocks[b + 1].nComponents == 1;

            const int column = block.firstColumn + first;
            bad |= gatherStrip(Strip<Scalar, Value>
            {
                sourceOf(block) + component,
                block.nComponents,
                target + column,
                layout.nColumns,
                nRows,
                reference + column,
                width,
                follows ? sourceOf(layout.blocks[b + 1]) : nullptr,
                column + stripWidth <= layout.nColumns || width + follows == layout.nColumns
            });
            b += follows;
        }
    }
    return bad;
}


// The slow way, once something is wrong: the first entry that is not finite, of the values
// themselves or else of the differences
template<class Scalar, class Value>
NonFinite locate
(
    const RowLayout& layout,
    const std::vector<FieldView<Scalar>>& views,
    Span<const double> reference,
    bool differences
)
{
    for (const ColumnBlock& block : layout.blocks)
    {
        const FieldView<Scalar>& view = views[block.field];
        std::int64_t row = 0;
        for (std::size_t piece = 0; piece < nPieces(layout, view); ++piece)
        {
            const Span<const Scalar> values = valuesOf(view, piece);
            for (std::size_t i = 0; i < values.size(); i += block.nComponents, ++row)
            {
                for (std::size_t k = 0; k < block.components.size(); ++k)
                {
                    const int component = block.components[k];
                    const double value = values[i + component];
                    const double shift = reference[block.firstColumn + k];
                    const bool good = differences
                      ? std::isfinite(static_cast<Value>(value - shift))
                      : std::isfinite(value);
                    if (!good)
                    {
                        return {block.field, row, component};
                    }
                }
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
RowGather<Scalar, Value>::RowGather
(
    const RowLayout& layout,
    const std::vector<FieldView<Scalar>>& views,
    Span<const double> reference,
    Span<Value> rows,
    std::int64_t bandRows
)
:
    layout_(layout),
    views_(views),
    reference_(reference),
    rows_(rows.data()),
    bandRows_(bandRows)
{
    const std::int64_t nRows = checkedRows(layout, views);
    const auto nColumns = static_cast<std::size_t>(layout.nColumns);
    if (reference.size() != nColumns || rows.size() != nRows*nColumns)
    {
        throw Error("a snapshot of " + std::to_string(nRows) + " rows and "
            + std::to_string(nColumns) + " columns does not fit " + std::to_string(rows.size())
            + " values and " + std::to_string(reference.size()) + " references");
    }
    if (nRows > 0)
    {
        nCells_ = rowsOf(layout, views, 0);
        nCellBands_ = static_cast<int>((nCells_ + bandRows - 1)/bandRows);
        hasBoundary_ = nRows > nCells_;
    }
}


template<class Scalar, class Value>
void RowGather<Scalar, Value>::take(int band)
{
    const auto gather = [&](std::size_t piece, std::int64_t first, std::int64_t row)
    {
        const std::int64_t length = std::min(bandRows_, rowsOf(layout_, views_, piece) - first);
        if (gatherBand(layout_, views_, piece, first, length, reference_.data(),
            rows_ + row*layout_.nColumns))
        {
            bad_ = true;
        }
    };
    if (band < nCellBands_)
    {
        gather(0, band*bandRows_, band*bandRows_);
        return;
    }
    std::int64_t before = nCells_;
    const std::size_t end = nPieces(layout_, leading(layout_, views_));
    for (std::size_t piece = 1; piece < end; before += rowsOf(layout_, views_, piece++))
    {
        for (std::int64_t first = 0; first < rowsOf(layout_, views_, piece); first += bandRows_)
        {
            gather(piece, first, before + first);
        }
    }
}


template<class Scalar, class Value>
NonFinite RowGather<Scalar, Value>::fault() const
{
    NonFinite found;
    if (bad_)
    {
        found = locate<Scalar, Value>(layout_, views_, reference_, false);
    }
    if (bad_ && found.field < 0)
    {
        found = locate<Scalar, Value>(layout_, views_, reference_, true);
    }
    return found;
}


template<class Scalar>
std::vector<double> columnSums
(
    const RowLayout& layout,
    const std::vector<FieldView<Scalar>>& views
)
{
    checkedRows(layout, views);
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


template class RowGather<float, float>;
template class RowGather<float, double>;
template class RowGather<double, float>;
template class RowGather<double, double>;
template std::vector<double> columnSums(const RowLayout&, const std::vector<FieldView<float>>&);
template std::vector<double> columnSums(const RowLayout&, const std::vector<FieldView<double>>&);

}
