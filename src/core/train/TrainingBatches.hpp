// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "profile/Profiler.hpp"
#include "train/BatchAssembler.hpp"
#include "train/CellWeights.hpp"
#include "train/InputNoise.hpp"
#include "train/TrainerLayout.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

//- What samples become for model and loss: normalised columns, noise on them, weights of the cells.
//  Its caches serve steps and predictions alike. What a call returns is valid until the next call
//  of the same function.
class TrainingBatches
{
public:

    //- seed: that of the training. pinned: as BatchAssembler::Layout's. layout, pool and profiler
    //  outlive it.
    TrainingBatches(const TrainerLayout& layout, Precision precision, std::uint64_t seed,
        bool pinned, std::shared_ptr<Comm> comm, ThreadPool& pool, Profiler& profiler);

    //- Samples that are passed together
    struct Group
    {
        std::vector<Sample> samples;    //!< on one mesh
        double share = 1;               //!< of the batch
    };

    //- The samples of each mesh together, meshes in the order of their first sample; those with
    //  values on edges one by one, since a batch shares its edges
    static std::vector<Group> byMesh(const std::vector<Sample>& batch);

    struct Tensors
    {
        GraphBatch inputs;
        at::Tensor targets;
    };

    //- Of a group, with the next noise. Stage "assemble".
    Tensors tensors(const std::vector<Sample>& group, const Normaliser& normaliser);

    //- What they are made of, for a device that makes them, with the next noise. Stage "assemble".
    const BatchParts& parts(const std::vector<Sample>& group, const Normaliser& normaliser);

    //- For a prediction: without noise
    GraphBatch inputs(const Sample& sample, const Normaliser& normaliser)
    {
        return assembler_.inputs(sample, normaliser.inputScales());
    }

    //- Of the cells in the loss, as CellWeights::on(). Collective.
    const CellWeights::Values& weights(const MeshState& mesh)
    {
        return weights_.on(mesh, weightedByVolume_);
    }

    void weightByVolume(bool choice) { weightedByVolume_ = choice; }

    //- As BatchAssembler::firstStaleEntry(), the weights of the loss included
    std::string firstStaleEntry() const;

    const InputNoise::State& noiseState() const { return noise_.state(); }
    void setNoiseState(const InputNoise::State& state) { noise_.setState(state); }

private:

    BatchNoise drawNoise(const std::vector<Sample>& group, const Normaliser& normaliser);

    const TrainerLayout& layout_;
    Precision precision_;
    bool isPinned_;
    ThreadPool& pool_;
    Profiler& profiler_;
    BatchAssembler assembler_;
    CellWeights weights_;
    bool weightedByVolume_ = false;
    InputNoise noise_;
};

}
