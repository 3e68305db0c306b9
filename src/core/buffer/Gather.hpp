// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Span.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace inSitu
{

//- A field that takes part: its memory is nComponents scalars per cell, or per face of a surface
//  field, of which the solved ones become columns.
struct FieldSpec
{
    std::string name;                       //!< "U"
    std::string type;                       //!< "volVectorField"
    int nComponents = 1;                    //!< as stored: 1 3 6 9
    std::vector<int> components;            //!< solved ones, ascending: {0, 1} in 2-D
    std::vector<std::string> columnNames;   //!< one per solved component: "Ux" "Uy", "p"
    std::vector<double> dimensions;         //!< exponents of kg m s K mol A cd
    bool oriented = false;                  //!< surface field that changes sign with the face

    int nColumns() const { return static_cast<int>(components.size()); }
};


//- The memory of one field at this moment, read-only and only for the length of a call
template<class Scalar>
struct FieldView
{
    Span<const Scalar> cells;       //!< [nCells, nComponents]; surface field: internal faces

    //- [nFaces, nComponents] per boundary patch; surface field: then per patch that edges go
    //  through to other cells
    std::vector<Span<const Scalar>> patches;
};


//- The columns of one field within a row
struct ColumnBlock
{
    int field = 0;          //!< index into the views
    int firstColumn = 0;
    int nComponents = 1;
    std::vector<int> components;
};


//- Where the columns of a snapshot come from
struct RowLayout
{
    int nColumns = 0;
    std::vector<ColumnBlock> blocks;
    bool boundaryRows = true;

    //- Columns of the given fields (indices into specs), in that order
    static RowLayout of(const std::vector<FieldSpec>& specs, const std::vector<int>& fields,
        bool boundaryRows);
};


//- A value that is not finite, or leaves the range of the snapshot's precision
struct NonFinite
{
    int field = -1;             //!< index into the views; -1: none found
    std::int64_t row = -1;      //!< of the snapshot
    int component = -1;         //!< of the field as stored
};


//- One pass: rows[r, c] = Value(field component − reference[c]), difference formed in
//  double. rows is [nRows, nColumns] with nRows = cells (+ faces of all patches, if the
//  layout has boundary rows). Allocates nothing; the same bits on every processor. To be used with
//  floating-point traps off. All that it is given outlives it. Scalar, Value: float or double.
template<class Scalar, class Value>
class RowGather
{
public:

    //- Rows of a band. Gathers of the same fields that take turns read them once from memory: so many
    //  leave room in the nearest cache for what is read and written. Fewer cost more to begin.
    static constexpr std::int64_t rowsOfTurn = 128;

    //- Throws Error if the sizes do not fit
    RowGather
    (
        const RowLayout& layout,
        const std::vector<FieldView<Scalar>>& views,
        Span<const double> reference,
        Span<Value> rows,
        std::int64_t bandRows = 8*rowsOfTurn
    );

    //- Bands of cells. The last one is of all patches, if they are rows.
    int nBands() const { return nCellBands_ + hasBoundary_; }

    //- One of them. Several threads may take different ones at a time.
    void take(int band);

    //- Behind all bands. Finiteness is checked on the way: the first bad entry in row order of
    //  the first bad field (values of the field before differences out of range); rows are then
    //  unspecified.
    NonFinite fault() const;

private:

    const RowLayout& layout_;
    const std::vector<FieldView<Scalar>>& views_;
    Span<const double> reference_;
    Value* rows_;
    std::int64_t bandRows_;
    std::int64_t nCells_ = 0;
    int nCellBands_ = 0;
    bool hasBoundary_ = false;
    std::atomic<bool> bad_{false};
};

//- All of one gather
template<class Scalar, class Value>
NonFinite gatherRows
(
    const RowLayout& layout,
    const std::vector<FieldView<Scalar>>& views,
    Span<const double> reference,
    Span<Value> rows
)
{
    RowGather<Scalar, Value> gather(layout, views, reference, rows);
    for (int band = 0; band < gather.nBands(); ++band)
    {
        gather.take(band);
    }
    return gather.fault();
}

//- Sum of each column over the cells [nColumns], in double in a fixed order: the caller
//  adds up the ranks and divides by the global number of cells
template<class Scalar>
std::vector<double> columnSums
(
    const RowLayout& layout,
    const std::vector<FieldView<Scalar>>& views
);

}
