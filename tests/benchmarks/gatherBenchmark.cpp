// SPDX-License-Identifier: GPL-3.0-or-later
//
// Gathering U and p into float32 rows against a plain pass over the bytes that are kept, which
// reads doubles and writes floats one after the other. Both run alternately; "ratio" is gather over
// pass, of the medians.
//
// inTurns: inputs (float32) and targets (double) of one execution, where neither the fields nor the
// rows are in a cache, in bands of so many rows.

#include "buffer/Gather.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

using namespace inSitu;

namespace
{

using Clock = std::chrono::steady_clock;

double median(std::vector<double>& values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size()/2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}


template<class Work>
double secondsOf(const Work& work)
{
    const Clock::time_point start = Clock::now();
    work();
    benchmark::ClobberMemory();
    return std::chrono::duration<double>(Clock::now() - start).count();
}


// Blocks of known length, so that the compiler makes vector instructions of them
constexpr std::size_t blockLength = 256;

void plainPass(const std::vector<double>& from, std::vector<float>& to)
{
    for (std::size_t first = 0; first < to.size(); first += blockLength)
    {
        const double* __restrict source = from.data() + first;
        float* __restrict target = to.data() + first;
        for (std::size_t i = 0; i < blockLength; ++i)
        {
            target[i] = static_cast<float>(source[i]);
        }
    }
}


// components: of U that become columns, beside p
void gatherUp(benchmark::State& state, const std::vector<int>& components)
{
    const auto nCells = static_cast<std::size_t>(state.range(0));
    FieldSpec U, p;
    U.nComponents = 3;
    U.components = components;
    p.components = {0};
    const RowLayout layout = RowLayout::of({U, p}, {0, 1}, false);
    const std::vector<double> reference(layout.nColumns, 0.25);

    const std::size_t nValues = layout.nColumns*nCells;
    std::vector<double> memoryU(3*nCells), memoryP(nCells), plain(nValues);
    for (std::size_t i = 0; i < memoryU.size(); ++i)
    {
        memoryU[i] = plain[i % nValues] = memoryP[i % nCells] = 1e-3*static_cast<double>(i % 1013);
    }
    const std::vector<FieldView<double>> views{{memoryU, {}}, {memoryP, {}}};
    std::vector<float> rows(nValues), copy(nValues);

    std::vector<double> gather, pass;
    for (auto _ : state)
    {
        pass.push_back(secondsOf([&] { plainPass(plain, copy); }));
        gather.push_back(secondsOf([&]
        {
            benchmark::DoNotOptimize(gatherRows(layout, views,
                Span<const double>(reference), Span<float>(rows)));
        }));
        state.SetIterationTime(gather.back());
    }
    state.counters["gather_us"] = 1e6*median(gather);
    state.counters["pass_us"] = 1e6*median(pass);
    state.counters["ratio"] = median(gather)/median(pass);
    state.SetBytesProcessed(state.iterations()
        *static_cast<std::int64_t>(nValues*(sizeof(double) + sizeof(float))));
}


void inTurns(benchmark::State& state)
{
    constexpr std::size_t nCells = 64000, nColumns = 3, nSlots = 16;
    FieldSpec U, p;
    U.nComponents = 3;
    U.components = {0, 1};
    p.components = {0};
    const RowLayout layout = RowLayout::of({U, p}, {0, 1}, false);
    const std::vector<double> reference(nColumns, 0.25);
    const std::vector<double> memoryU(3*nCells, 1.5), memoryP(nCells, 2.5);
    const std::vector<FieldView<double>> views{{memoryU, {}}, {memoryP, {}}};
    std::vector<std::vector<float>> inputs(nSlots, std::vector<float>(nColumns*nCells));
    std::vector<std::vector<double>> targets(nSlots, std::vector<double>(nColumns*nCells));
    std::vector<double> others(std::size_t(128 << 20)/sizeof(double));

    std::vector<double> gather;
    for (auto _ : state)
    {
        for (double& other : others)
        {
            other += 1;
        }
        const std::size_t slot = gather.size() % nSlots;
        gather.push_back(secondsOf([&]
        {
            RowGather<double, float> input(layout, views, reference,
                Span<float>(inputs[slot]), state.range(0));
            RowGather<double, double> target(layout, views, reference,
                Span<double>(targets[slot]), state.range(0));
            for (int band = 0; band < input.nBands(); ++band)
            {
                input.take(band);
                target.take(band);
            }
        }));
        state.SetIterationTime(gather.back());
    }
    state.counters["gather_us"] = 1e6*median(gather);
}

}

BENCHMARK(inTurns)->Arg(128)->Arg(1024)->UseManualTime()->Iterations(60)
    ->Unit(benchmark::kMicrosecond);

BENCHMARK_CAPTURE(gatherUp, UxUyUzP, std::vector<int>{0, 1, 2})
    ->Arg(64000)->Arg(1000000)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(gatherUp, UxUyP, std::vector<int>{0, 1})
    ->Arg(64000)->UseManualTime()->Unit(benchmark::kMicrosecond);
