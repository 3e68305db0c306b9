// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Precision.hpp"
#include "base/StateTree.hpp"

#include <optional>
#include <vector>

namespace inSitu
{

//- Weighted mean and variance of columns, in double. Batches are merged by the formula of
//  Chan, Golub & LeVeque (1979), so that a large mean costs no digits; old weight can be
//  forgotten exponentially.
class RunningMoments
{
public:

    explicit RunningMoments(int nColumns);

    //- Merge rows [nRows, nColumns] of weight 1 each; the rows of all ranks count as one batch (collective)
    template<class Value>
    void add(Span<const Value> rows, std::int64_t nRows, const Comm& comm);

    //- Limit the weight collected so far
    void forget(double maximumWeight);

    double weight() const { return weight_; }
    const std::vector<double>& mean() const { return mean_; }

    //- Population variance; 0 before the first batch
    std::vector<double> variance() const;

    StateTree save() const;
    void load(const StateTree& state);

private:

    double weight_ = 0;
    std::vector<double> mean_;
    std::vector<double> m2_;
};


//- Shift and scale of the columns: normalised = (value − shift) / scale
struct Scaling
{
    std::vector<double> shift;
    std::vector<double> scale;
};


//- Running scales of inputs and targets (design 6). A sample counts once, whatever its
//  number of cells. Inputs, and targets that are values, are scaled by mean and deviation;
//  increments by their root mean square, without shift. The scale of a target has a floor,
//  1e-6 of its field's own deviation; a column that never varied has scale 1.
class Normaliser
{
public:

    struct Layout
    {
        int nInputColumns = 0;
        int nTargetColumns = 0;
        bool increment = true;

        //- Field of each target column, numbered from 0: columns of a field share the floor
        std::vector<int> targetField;
    };

    //- memory: samples until an old sample's weight has fallen by e; freezeAfter: samples
    //  after which nothing changes any more
    Normaliser(Layout layout, double memory, std::optional<std::int64_t> freezeAfter);

    //- Count one sample. input [nCells, nInputColumns] (cells only), target and the target
    //  fields' values less reference targetValue [nCells, nTargetColumns] in double (collective).
    template<class Value>
    void add(Span<const Value> input, Span<const Value> target, Span<const double> targetValue,
        std::int64_t nCells, const Comm& comm);

    Scaling input() const;
    Scaling target() const;
    std::int64_t nSamples() const { return nSamples_; }

    StateTree save() const;
    void load(const StateTree& state);

private:

    Layout layout_;
    double memory_;
    std::optional<std::int64_t> freezeAfter_;
    std::int64_t nSamples_ = 0;
    RunningMoments input_;
    RunningMoments target_;
    RunningMoments value_;
};

}
