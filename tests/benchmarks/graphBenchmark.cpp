// SPDX-License-Identifier: GPL-3.0-or-later
//
// Graph of an n × n × n block from owner and neighbour: connectivity, reverse edges and senders;
// then the same with boundary rows and one cyclic direction; then a sliding interface put into a
// graph that is there; then where its nodes are and the edge features.

#include "graph/MeshGeometry.hpp"
#include "graph/MeshGraph.hpp"
#include "Hex.hpp"

#include <benchmark/benchmark.h>

using namespace inSitu;

namespace
{

Hex block(const benchmark::State& state)
{
    const int n = static_cast<int>(state.range(0));
    return Hex(n, n, n, {0.1, 0.2, 0.3});
}


void report(benchmark::State& state, const MeshGraph& graph)
{
    state.counters["cells"] = graph.nCells();
    state.counters["edges"] = graph.nEdges();
    state.counters["bytes"] = static_cast<double>(graph.bytes());
}


void graphFromFaces(benchmark::State& state)
{
    const Hex hex = block(state);
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour));
    }
    report(state, MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour));
}


void graphWithPatches(benchmark::State& state)
{
    const Hex hex = block(state);
    const auto build = [&]
    {
        return MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour,
            hex.boundary({2, 3, 4, 5}), hex.cyclic(0));
    };
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(build());
    }
    report(state, build());
}


void graphWithInterface(benchmark::State& state)
{
    const Hex hex = block(state);
    const MeshGraph inner = MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour,
        hex.boundary({2, 3, 4, 5}));
    const Hex::Interface sliding = hex.sliding(0);
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(inner.withCoupled(sliding.halves()));
    }
    report(state, inner.withCoupled(sliding.halves()));
}


void geometryOfGraph(benchmark::State& state)
{
    const Hex hex = block(state);
    const MeshGraph graph = MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour);
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(makeGeometry(graph, hex.centres, hex.volumes, {0, 1, 2}));
    }
    report(state, graph);
}


void edgeFeaturesOfGeometry(benchmark::State& state)
{
    const Hex hex = block(state);
    const MeshGraph graph = MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour);
    const MeshGeometry geometry = makeGeometry(graph, hex.centres, hex.volumes, {0, 1, 2});
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(edgeFeatures(graph, geometry));
    }
    report(state, graph);
}

}

BENCHMARK(graphFromFaces)->Arg(40)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(graphWithPatches)->Arg(40)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(graphWithInterface)->Arg(40)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(geometryOfGraph)->Arg(40)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(edgeFeaturesOfGeometry)->Arg(40)->Arg(100)->Unit(benchmark::kMillisecond);
