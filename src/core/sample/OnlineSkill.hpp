// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/StateTree.hpp"

#include <string>
#include <vector>

namespace inSitu
{

//- Test-then-train error: each new sample is predicted before it is learnt. One number per
//  target field over the samples since the last report; a field's components count alike.
//      rmse  = sqrt(mean (prediction − truth)²)         in the field's unit
//      skill = 1 − sum (prediction − truth)² / sum (baseline − truth)²
//  with persistence, or for a map at the same time the running mean, as baseline.
class OnlineSkill
{
public:

    //- field of each target column, numbered from 0
    explicit OnlineSkill(std::vector<int> fieldOfColumn);

    //- All [nCells, nColumns]; truth and baseline as in the fields; mask [nCells] of 0 and 1,
    //  empty: all cells (collective)
    void add(Span<const double> prediction, Span<const double> truth,
        Span<const double> baseline, Span<const double> mask, const Comm& comm);

    //- NaN before the first sample since the reset
    std::vector<double> rmse() const;

    //- NaN likewise, or where the baseline was exact
    std::vector<double> skill() const;

    std::int64_t nSamples() const { return nSamples_; }

    void reset();

    StateTree save() const;
    void load(const StateTree& state);

private:

    std::vector<int> fieldOfColumn_;
    int nFields_;
    std::int64_t nSamples_ = 0;
    std::vector<double> error_;         // sum of squares per field
    std::vector<double> baseline_;
    std::vector<double> count_;         // of summed entries per field
    std::vector<double> sums_;          // of one sample: error, baseline and count by field
};

}
