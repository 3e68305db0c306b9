// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "buffer/Gather.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace inSitu
{

//- The fields of a group in memory that its ranks share: each writes its values to their place, and
//  the trainer sees fields of the united mesh. Results go the other way. There is one place for
//  the values of one time, however many ranks and samples there are.
class SharedFields
{
public:

    //- group: the ranks of a group, the trainer first. nComponents: of each field, as stored;
    //  resultColumns: per cell
    SharedFields(std::shared_ptr<Comm> group, std::vector<int> nComponents, int resultColumns);

    //- This rank has other rows from the next share() on, and so have all others of the group
    void setRows(std::int64_t nCells, std::int64_t nBoundary);

    //- On the trainer the views of the fields of all members, elsewhere nothing of use; they stay
    //  valid, and their values the same, until the next call. Each has the values of cells (or
    //  internal faces), then those of the boundary rows, and of coupled faces, as its patches.
    //  Always with the same Scalar until setRows(). Collective in the group. Throws Error if the
    //  sizes are not those of the rows, or there is no room for what is shared.
    template<class Scalar>
    const std::vector<FieldView<Scalar>>& share(const std::vector<FieldView<Scalar>>& views);

    //- Where the trainer leaves the results of all cells [cells of the group, columns]
    Span<double> results() { return results_; }

    //- Those of the cells here, behind the call. Collective in the group.
    Span<const double> meet();

    //- Of the memory that is shared
    std::size_t bytes() const { return window_ ? window_->bytes() : 0; }

private:

    enum { cells, boundary, coupled, nBlocks };

    template<class Scalar>
    void layOut(const std::vector<FieldView<Scalar>>& views);

    template<class Scalar>
    std::vector<double> sizesOf(const std::vector<FieldView<Scalar>>& views) const;

    std::vector<FieldView<float>>& viewsOf(float) { return single_; }
    std::vector<FieldView<double>>& viewsOf(double) { return double_; }

    std::shared_ptr<Comm> group_;
    std::vector<int> nComponents_;
    std::size_t resultColumns_;
    std::int64_t nCells_ = 0;
    std::int64_t nBoundary_ = 0;
    bool stale_ = true;

    std::unique_ptr<SharedWindow> window_;
    std::vector<double> sizes_;             // of each field and block: numbers here
    std::vector<std::size_t> begin_;        // where they go
    std::vector<FieldView<float>> single_;
    std::vector<FieldView<double>> double_;
    Span<double> results_;                  // of all, and of the cells here
    Span<double> ownResults_;
};

}
