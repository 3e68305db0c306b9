// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGeometry.hpp"

#include "base/Error.hpp"
#include "graph/geometryChecks.hpp"

#include <cmath>

namespace inSitu
{
namespace
{

std::size_t nCoupled(const MeshGraph& graph)
{
    std::size_t n = 0;
    for (std::int32_t edge = 0; edge < graph.nEdges(); ++edge)
    {
        n += graph.isCoupled(edge);
    }
    return n;
}

}


std::vector<std::string> MeshGeometry::edgeFeatureNames() const
{
    std::vector<std::string> names;
    for (const int direction : directions)
    {
        names.push_back(std::string("d") + "xyz"[direction]);
    }
    names.push_back("length");
    if (weighted)
    {
        names.push_back("weight");
    }
    return names;
}


std::size_t MeshGeometry::bytes() const
{
    return sizeof(double)
        *(centres.size() + cellVolumes.size() + displacements.size() + weights.size());
}


void MeshGeometry::requireFits(const MeshGraph& graph) const
{
    requireSize(centres.size(), 3*static_cast<std::size_t>(graph.nNodes()), "coordinates");
    requireSize(cellVolumes.size(), static_cast<std::size_t>(graph.nCells()), "cell volumes");
    const std::size_t coupled = nCoupled(graph);
    requireSize(displacements.size(), 3*coupled, "components of displacements");
    requireSize(weights.size(), weighted ? coupled : 0, "weights");
}


StateTree MeshGeometry::save() const
{
    StateTree state;
    state.put("centres", centres);
    state.put("cellVolumes", cellVolumes);
    state.put("directions", std::vector<std::int32_t>(directions.begin(), directions.end()));
    state.put("displacements", displacements);
    state.putInt("weighted", weighted);
    state.put("weights", weights);
    return state;
}


MeshGeometry MeshGeometry::load(const StateTree& state)
{
    const std::vector<std::int32_t> directions = state.get<std::int32_t>("directions");

    MeshGeometry geometry;
    geometry.centres = state.get<double>("centres");
    geometry.cellVolumes = state.get<double>("cellVolumes");
    geometry.directions.assign(directions.begin(), directions.end());
    geometry.displacements = state.get<double>("displacements");
    geometry.weighted = state.getInt("weighted") != 0;
    geometry.weights = state.get<double>("weights");
    if
    (
        geometry.centres.size() % 3 != 0
     || geometry.cellVolumes.size() > geometry.centres.size()/3
     || !areDirections(geometry.directions)
     || geometry.displacements.size() % 3 != 0
     || geometry.weights.size() != (geometry.weighted ? geometry.displacements.size()/3 : 0)
    )
    {
        throw Error("a saved geometry of " + std::to_string(geometry.centres.size()/3)
            + " nodes contradicts itself");
    }
    return geometry;
}


bool MeshGeometry::operator==(const MeshGeometry& other) const
{
    return centres == other.centres && cellVolumes == other.cellVolumes
        && directions == other.directions && displacements == other.displacements
        && weighted == other.weighted && weights == other.weights;
}


std::vector<double> edgeFeatures(const MeshGraph& graph, const MeshGeometry& geometry)
{
    const auto nEdges = static_cast<std::size_t>(graph.nEdges());
    std::vector<double> features(nEdges*geometry.nEdgeFeatures());

    double* feature = features.data();
    const double* displacement = geometry.displacements.data();
    const double* weight = geometry.weights.data();
    for (std::int32_t receiver = 0; receiver < graph.nNodes(); ++receiver)
    {
        const double* to = &geometry.centres[3*static_cast<std::size_t>(receiver)];
        for (auto e = graph.receiverStart()[receiver]; e < graph.receiverStart()[receiver + 1]; ++e)
        {
            const bool coupled = graph.isCoupled(e);
            const double* from = coupled ? nullptr
                : &geometry.centres[3*static_cast<std::size_t>(graph.senders()[e])];

            double square = 0;
            for (const int i : geometry.directions)
            {
                const double difference = coupled ? displacement[i] : from[i] - to[i];
                square += difference*difference;
                *feature++ = difference;
            }
            *feature++ = std::sqrt(square);
            displacement += coupled ? 3 : 0;
            if (geometry.weighted)
            {
                *feature++ = coupled ? *weight++ : 1;
            }
        }
    }
    return features;
}


double meanEdgeLength(const MeshGraph& graph, const MeshGeometry& geometry)
{
    const std::vector<double> features = edgeFeatures(graph, geometry);
    const std::size_t width = geometry.nEdgeFeatures();
    const std::size_t length = geometry.directions.size();

    double total = 0;
    for (std::size_t i = length; i < features.size(); i += width)
    {
        total += features[i];
    }
    return features.empty() ? 0 : total*static_cast<double>(width)/features.size();
}


std::vector<double> edgeScales(const MeshGeometry& geometry, double length)
{
    std::vector<double> scales(geometry.nEdgeFeatures(), length);
    if (geometry.weighted)
    {
        scales.back() = 1;
    }
    return scales;
}

}
