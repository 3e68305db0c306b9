// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "infer/Surrogate.hpp"

#include <ATen/core/Tensor.h>

namespace inSitu
{

//- A network that is not ours, on raw values. It takes, as its card's `arguments` say, nodes
//  [N, nInputColumns] of the card's precision, static [N, S] float32, edge_index [2, E] int64,
//  edges [E, F] of that precision (undivided), and gives physical values [N or nCells, targets].
class RawSurrogate : public Surrogate
{
public:

    void predict(const Sample& sample, Span<double> prediction) final;
    std::string firstStaleEntry() const final;

protected:

    //- Throws Error naming path: a card with scales, which belong into such a network
    RawSurrogate(const ModelCard& card, std::string path, const CountBuild& count);

    const std::string& path() const { return path_; }

    //- The one result of the network. Throws Error: its own fault, more or other than one tensor.
    virtual at::Tensor run(std::vector<at::Tensor> arguments) = 0;

    //- What stands in messages about a result that is no tensor
    std::string wanted() const;

private:

    struct Key
    {
        std::shared_ptr<const MeshGraph> graph;
        std::shared_ptr<const MeshGeometry> geometry;
        std::shared_ptr<const std::vector<float>> staticFeatures;

        bool operator==(const Key& other) const
        {
            return graph == other.graph && geometry == other.geometry
                && staticFeatures == other.staticFeatures;
        }

        std::string changeFrom(const Key& before) const
        {
            return graph != before.graph ? "topology"
                : geometry != before.geometry ? "geometry" : "fields";
        }
    };

    //- What does not change with the values
    struct Fixed
    {
        at::Tensor staticColumns;
        at::Tensor edgeIndex;
        at::Tensor edges;
    };

    Fixed makeFixed(const Key& key) const;
    at::Tensor nodesOf(const Sample& sample) const;
    at::Tensor edgesOf(const Sample& sample, const at::Tensor& fixed) const;

    std::string path_;
    at::ScalarType type_;
    Stamped<Key, Fixed> fixed_;
};

}
