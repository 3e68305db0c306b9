// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/StateTree.hpp"
#include "profile/Profiler.hpp"
#include "sample/Normaliser.hpp"
#include "sample/Sample.hpp"
#include "train/TrainerLayout.hpp"
#include "train/TrainingConfig.hpp"
#include "train/TrainingStep.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

//- Owns model, loss, optimiser and schedule, and makes the training steps. The scales come
//  from outside, since they belong to the data and not to the network. Meshes come with the
//  samples.
//
//  On a GPU a step is put into its queue, and what came out is told later: at most two steps are in
//  flight. Whether a step is finite, and is left out if not, is decided on the GPU at once; rates of
//  the steps in flight count on the good case. A schedule that follows the loss waits for each step.
//  All functions but start() and ended(false) wait for what is in flight.
//
//  Stages of the profiler: assemble, forward, backward, update, predict; on a GPU assemble, launch,
//  wait, predict.
class Trainer
{
public:

    //- Sets the number of torch's own threads for the process: 1 beside models that bring
    //  their kernels (sums of torch's operators change bits with the number of threads, and
    //  OpenMP's workers spin between them, next to the solver), that of the pool for a
    //  user's TorchScript model. pool and profiler outlive the trainer.
    Trainer(const TrainingConfig& config, TrainerLayout layout, std::shared_ptr<Comm> comm,
        ThreadPool& pool, Profiler& profiler);
    ~Trainer();

    //- Physical prediction for a sample's input: increments, or values without reference
    //  [nCells, nOutputs], double. Evaluation mode, no gradients.
    void predict(const Sample& sample, const Normaliser& normaliser, Span<double> prediction);

    //- The scales moved from before to after. Predictions in physical units stay where they
    //  were when a scale grew, and shrink with it (towards their centre) when it shrank.
    //  No effect for models that cannot rescale.
    void followScales(const Scaling& before, const Scaling& after);

    using Step = TrainingStep;

    //- One forward and backward pass over the batch; an optimiser step with the mean of the
    //  gradients every gradAccumulationSteps finite passes. A pass that is not finite leaves
    //  no trace but its count. Samples on different meshes are passed one mesh after the other;
    //  each sample has the same share of loss and gradient.
    void start(const std::vector<Sample>& batch, const Normaliser& normaliser);

    //- The steps started since the last call that have ended, in order; wait: all
    std::vector<Step> ended(bool wait);

    //- start(), and the step when it has ended. Drops what ended() has not told yet.
    Step step(const std::vector<Sample>& batch, const Normaliser& normaliser);

    //- "cpu", "cuda:0 (NVIDIA H200)"; and why it is not a GPU, if that was not said by the entry
    const std::string& device() const;
    const std::string& reasonForDevice() const;

    //- The GPU keeps the rows of samples for the steps to come
    bool keepsSamplesThere() const;

    //- Make what LibTorch makes at its first differentiation, here and now: for a trainer that is
    //  going to work in a thread, which has to end before that is destroyed
    static void warmUp();

    //- Apply what may change during a run: keys of the optimiser, its type excepted, loss,
    //  schedule. Returns the names of keys that differ and cannot be applied ("model.type",
    //  "precision"). Keys that the trainer does not use (batchSize) are the caller's.
    std::vector<std::string> reconfigure(const TrainingConfig& config);

    //- As BatchAssembler::firstStaleEntry(), the weights of the loss included
    std::string firstStaleEntry() const;

    //- The ranks have the same weights, to the bit. Collective.
    bool sameOnAllRanks() const;

    std::int64_t nSteps() const;        //!< passes
    std::int64_t nUpdates() const;      //!< optimiser steps

    Model& model();

    //- Remember the current weights as the best so far, with their score (keepBest)
    void keepBest(double skill);

    //- −infinity before the first
    double bestSkill() const;

    //- Call visit with the model holding its best weights, made to fit the present scales
    //  as followScales() did with the current ones; the current weights are back afterwards.
    //  Without kept weights visit sees the current ones.
    void visitBest(const std::function<void(const Model&)>& visit);

    //- Weights, optimiser, schedule, accumulated gradients, counters, generators, best weights
    StateTree save() const;

    //- Continue bit for bit. An optimiser or schedule of another type than the saved one
    //  starts afresh; returns a sentence for each. Throws IncompatibleState, naming the first
    //  difference and with nothing changed, if the tensors of the model are others.
    std::vector<std::string> load(const StateTree& state);

private:

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}
