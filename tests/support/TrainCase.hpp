// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "TrainSupport.hpp"
#include "WaveCase.hpp"
#include "model/GraphBatch.hpp"
#include "sample/Normaliser.hpp"
#include "train/Trainer.hpp"

#include <torch/torch.h>

namespace inSitu
{

//- nx × ny cells over a wall with 3 dynamic and 5 static columns, 2 target columns
template<class Value>
struct TrainCase
{
    static constexpr int nInputs = 3;
    static constexpr int nTargets = 2;

    explicit TrainCase(int nx = 6, int ny = 5)
    :
        mesh(WaveCase(nx, ny).mesh().state)
    {
        auto features = std::make_shared<std::vector<float>>(*mesh.staticFeatures);
        for (std::size_t row = 0; row < features->size()/5; ++row)
        {
            (*features)[5*row + 3] = 0.03125f*static_cast<float>(row % 7);
            (*features)[5*row + 4] = 0.0078125f*static_cast<float>(3 + row % 5);
        }
        mesh.staticFeatures = features;
    }

    std::int64_t nCells() const { return mesh.graph->nCells(); }
    std::int64_t nNodes() const { return mesh.graph->nNodes(); }

    static double input(int k, std::int64_t row, int c)
    {
        return 0.3 + std::sin(0.37*k + 0.11*row + 1.9*c) + 0.5*c;
    }

    static double target(int k, std::int64_t row, int c)
    {
        return 0.2*std::cos(0.41*k + 0.13*row + 0.7*c) + 0.05*c;
    }

    //- Sample number k
    Sample sample(int k) const
    {
        std::vector<Value> inputs, targets;
        for (std::int64_t row = 0; row < nNodes(); ++row)
        {
            for (int c = 0; c < nInputs; ++c)
            {
                inputs.push_back(static_cast<Value>(input(k, row, c)));
            }
        }
        for (std::int64_t row = 0; row < nCells(); ++row)
        {
            for (int c = 0; c < nTargets; ++c)
            {
                targets.push_back(static_cast<Value>(target(k, row, c)));
            }
        }

        Sample result;
        result.id = k;
        result.mesh = mesh;
        result.input = slotOf(std::move(inputs));
        result.target = slotOf(std::move(targets));
        return result;
    }

    //- Scales of samples 0..count-1, the targets times factor plus offset
    Normaliser normaliser(int count = 3, double factor = 1, double offset = 0,
        bool increment = true) const
    {
        Normaliser result({nInputs, nTargets, 0, increment, {0, 1}, {0, 0, 1}}, 100, {});
        result.setMeshScales(meshScales());
        for (int k = 0; k < count; ++k)
        {
            const Sample added = sample(k);
            const auto* inputs = static_cast<const Value*>(added.input.get());
            std::vector<double> values;
            std::vector<Value> targets;
            for (std::int64_t i = 0; i < nCells()*nTargets; ++i)
            {
                const Value target = static_cast<Value*>(added.target.get())[i];
                values.push_back(factor*static_cast<double>(target) + offset);
                targets.push_back(static_cast<Value>(values.back()));
            }
            result.add<Value>({inputs, static_cast<std::size_t>(nCells()*nInputs)},
                Span<const Value>(targets), Span<const double>(values), nCells(), {}, SerialComm());
        }
        return result;
    }

    MeshScales meshScales() const
    {
        return {meanEdgeLength(*mesh.graph, *mesh.geometry), 0.03125};
    }

    TrainerLayout layout() const
    {
        TrainerLayout layout;
        layout.shape = {nInputs + 5, mesh.geometry->nEdgeFeatures(), nTargets};
        layout.nInputColumns = nInputs;
        layout.staticColumns = staticColumns;
        return layout;
    }

    MeshState mesh;
    const std::vector<std::string> staticColumns
        {"isCell", "isWall", "isPatch", "wallDistance", "cellVolume"};
};


//- A trainer with what must outlive it
struct TrainerBench
{
    TrainerBench(const TrainingConfig& config, TrainerLayout layout, int nThreads = 1)
    :
        pool(nThreads),
        trainer(config, std::move(layout), std::make_shared<SerialComm>(), pool, profiler)
    {}

    //- All parameters in one row, double
    at::Tensor weights()
    {
        std::vector<at::Tensor> rows;
        for (const auto& [name, tensor] : trainer.model().namedTensors())
        {
            rows.push_back(tensor.flatten().to(at::kDouble));
        }
        return at::cat(rows);
    }

    std::vector<double> prediction(const Sample& sample, const Normaliser& normaliser,
        std::int64_t nCells)
    {
        std::vector<double> values(static_cast<std::size_t>(nCells)*2);
        trainer.predict(sample, normaliser, Span<double>(values));
        return values;
    }

    ThreadPool pool;
    Profiler profiler;
    Trainer trainer;
};


//- Largest difference relative to the largest entry of b
inline double relativeDifference(const std::vector<double>& a, const std::vector<double>& b)
{
    double difference = 0;
    double size = 0;
    for (std::size_t i = 0; i < b.size(); ++i)
    {
        difference = std::max(difference, std::abs(a[i] - b[i]));
        size = std::max(size, std::abs(b[i]));
    }
    return difference/size;
}

}
