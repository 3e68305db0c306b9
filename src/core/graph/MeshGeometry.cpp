// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGeometry.hpp"

#include "base/Error.hpp"

#include <algorithm>
#include <cmath>

namespace inSitu
{
namespace
{

void requireSize(std::size_t size, std::size_t expected, const char* what)
{
    if (size != expected)
    {
        throw Error(std::string("the geometry has ") + std::to_string(size) + ' ' + what
            + ", but the graph asks for " + std::to_string(expected));
    }
}


// Displacement through a coupled face
const double* displacementOf
(
    std::int32_t face,
    const std::vector<CoupledDisplacement>& displacements
)
{
    for (const CoupledDisplacement& patch : displacements)
    {
        const std::int64_t i = static_cast<std::int64_t>(face) - patch.firstFace;
        if (i >= 0 && 3*i < static_cast<std::int64_t>(patch.delta.size()))
        {
            return &patch.delta[3*i];
        }
    }
    throw Error("no displacement is given for the coupled face " + std::to_string(face));
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
    return names;
}


std::size_t MeshGeometry::bytes() const
{
    return (centres.size() + cellVolumes.size() + displacements.size())*sizeof(double);
}


StateTree MeshGeometry::save() const
{
    StateTree state;
    state.put("centres", centres);
    state.put("cellVolumes", cellVolumes);
    state.put("directions", std::vector<std::int32_t>(directions.begin(), directions.end()));
    state.put("displacements", displacements);
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
    return geometry;
}


bool MeshGeometry::operator==(const MeshGeometry& other) const
{
    return centres == other.centres && cellVolumes == other.cellVolumes
        && directions == other.directions && displacements == other.displacements;
}


MeshGeometry makeGeometry
(
    const MeshGraph& graph,
    std::vector<double> centres,
    std::vector<double> cellVolumes,
    std::vector<int> directions,
    const std::vector<CoupledDisplacement>& displacements
)
{
    requireSize(centres.size(), 3*static_cast<std::size_t>(graph.nNodes()), "coordinates");
    requireSize(cellVolumes.size(), static_cast<std::size_t>(graph.nCells()), "cell volumes");
    if
    (
        directions.empty() || !std::is_sorted(directions.begin(), directions.end())
     || directions.front() < 0 || directions.back() > 2
    )
    {
        throw Error("the active directions of a geometry are some of 0 1 2, ascending");
    }

    MeshGeometry geometry;
    geometry.centres = std::move(centres);
    geometry.cellVolumes = std::move(cellVolumes);
    geometry.directions = std::move(directions);

    for (std::int32_t e = 0; e < graph.nEdges(); ++e)
    {
        if (graph.isCoupled(e))
        {
            const double* across = displacementOf(graph.faceOf()[e], displacements);
            geometry.displacements.insert(geometry.displacements.end(), across, across + 3);
        }
    }
    return geometry;
}


std::vector<double> edgeFeatures(const MeshGraph& graph, const MeshGeometry& geometry)
{
    const auto nEdges = static_cast<std::size_t>(graph.nEdges());
    std::vector<double> features(nEdges*geometry.nEdgeFeatures());

    double* feature = features.data();
    const double* displacement = geometry.displacements.data();
    for (std::int32_t receiver = 0; receiver < graph.nNodes(); ++receiver)
    {
        const double* to = &geometry.centres[3*static_cast<std::size_t>(receiver)];
        for (auto e = graph.receiverStart()[receiver]; e < graph.receiverStart()[receiver + 1]; ++e)
        {
            const bool coupled = graph.isCoupled(e);
            const double* from =
                &geometry.centres[3*static_cast<std::size_t>(graph.senders()[e])];

            double square = 0;
            for (const int i : geometry.directions)
            {
                const double difference = coupled ? displacement[i] : from[i] - to[i];
                square += difference*difference;
                *feature++ = difference;
            }
            *feature++ = std::sqrt(square);
            displacement += coupled ? 3 : 0;
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

}
