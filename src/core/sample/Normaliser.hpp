// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Precision.hpp"
#include "base/StateTree.hpp"

#include <optional>
#include <string>
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

    //- Merge rows [nRows, nColumns]; the rows of all ranks count as one batch (collective),
    //  of weight 1 each or of the given weight all together. Each column is summed about one
    //  of its own values, so that a constant column has variance 0 exactly.
    //  Value: float or double.
    template<class Value>
    void add(Span<const Value> rows, std::int64_t nRows, const Comm& comm,
        std::optional<double> batchWeight = std::nullopt);

    //- Limit the weight collected so far; mean and variance stay
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
    std::vector<double> m2_;        // sum of squared deviations from the mean
    std::vector<double> pivot_;     // scratch
    std::vector<double> sums_;      // scratch
};


//- Shift and scale of the columns: normalised = (value − shift) / scale
struct Scaling
{
    std::vector<double> shift;
    std::vector<double> scale;
};


//- Constants of a run that divide what is known of the mesh: mean edge and mean cell of its first
//  graph, over all ranks
struct MeshScales
{
    double edgeLength = 1;      //!< m
    double cellVolume = 1;      //!< m3
};


//- What divides each static column, by its name: wallDistance the length, cellVolume the volume,
//  all others 1
std::vector<double> staticScales(const std::vector<std::string>& columns,
    const MeshScales& scales);


//- All that is between the values of a mesh and its fields and what a network is given
struct InputScales
{
    Scaling nodes;              //!< of the input columns and the features
    MeshScales mesh;
    std::vector<double> edges;  //!< of the edge inputs: divisors
};


//- Running scales of inputs and targets (design 6). A sample counts once, whatever its
//  number of cells: sample n has the share 1/min(n, memory) when it arrives, so that the
//  first samples have their exact joint statistics. Inputs, and targets that are values, are
//  scaled by mean and deviation; increments by their root mean square, without shift. So are
//  inputs on edges, over all edges: their sign keeps its meaning.
//
//  A scale has a floor, below which a column counts as constant: 1e-6 of the deviation of the
//  field's values (root mean square over its columns), and 1e-12 of their size (reference of
//  an input, mean of a target), which is what rounding leaves of a constant field. A column
//  with scale and floor 0 never varied and gets scale 1. A pressure of 1e5 ± 1 is far above
//  both and keeps its digits. A feature, of which there is one value per sample, counts as constant
//  below 1e-6 of its mean: steps of time differ by the rounding of the clock.
class Normaliser
{
public:

    struct Layout
    {
        int nInputColumns = 0;
        int nTargetColumns = 0;
        int nFeatures = 0;      //!< columns behind those of the input, one value per sample
        bool increment = true;

        //- Field of each column, numbered from 0: columns of a field share the floor
        std::vector<int> targetField;
        std::vector<int> inputField;
        std::vector<int> edgeField = {};
    };

    //- memory: samples until an old sample's weight has fallen to 1/e, at least 1;
    //  freezeAfter: samples after which nothing changes any more. Throws Error if the layout
    //  contradicts itself.
    Normaliser(Layout layout, double memory, std::optional<std::int64_t> freezeAfter);

    //- What was subtracted from the fields' values in the input columns [nInputColumns];
    //  zeros until it is known
    void setInputReference(Span<const double> reference);

    //- Count one sample. input [nCells, nInputColumns] (cells only), target and targetValue,
    //  the target fields' values with nothing subtracted [nCells, nTargetColumns], features
    //  [nFeatures] the same on all ranks, edges [nEdges, nEdgeColumns] (collective)
    template<class Value>
    void add(Span<const Value> input, Span<const Value> target, Span<const double> targetValue,
        std::int64_t nCells, Span<const double> features, const Comm& comm,
        Span<const Value> edges = {});

    //- [nInputColumns + nFeatures]
    Scaling input() const;
    Scaling target() const;

    //- 1 until they are set
    void setMeshScales(const MeshScales& scales) { mesh_ = scales; }
    const MeshScales& meshScales() const { return mesh_; }

    //- input() and what belongs to it
    InputScales inputScales() const { return {input(), mesh_, edges()}; }

    //- Divisors of the edge inputs
    std::vector<double> edges() const;

    //- Samples that the scales were made of
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
    RunningMoments feature_;
    RunningMoments edge_;
    std::vector<double> inputReference_;
    MeshScales mesh_;
};

}
