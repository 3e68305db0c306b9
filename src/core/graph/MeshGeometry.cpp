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

    const std::size_t nEdges = static_cast<std::size_t>(graph.nEdges());
    geometry.edgeFeatures.resize(nEdges*geometry.nEdgeFeatures());

    double total = 0;
    double* feature = geometry.edgeFeatures.data();
    for (std::size_t e = 0; e < nEdges; ++e)
    {
        const std::int32_t face = graph.faceOf()[e];
        const std::int32_t sender = graph.senders()[e];
        const bool coupled = face >= graph.nInternalFaces() && sender < graph.nCells();

        const double* from = &geometry.centres[3*static_cast<std::size_t>(sender)];
        const double* to = &geometry.centres[3*static_cast<std::size_t>(graph.receivers()[e])];
        const double* across = coupled ? displacementOf(face, displacements) : nullptr;

        double square = 0;
        for (const int i : geometry.directions)
        {
            const double difference = across ? across[i] : from[i] - to[i];
            square += difference*difference;
            *feature++ = difference;
        }
        const double length = std::sqrt(square);
        *feature++ = length;
        total += length;
    }
    geometry.meanEdgeLength = nEdges > 0 ? total/static_cast<double>(nEdges) : 0;
    return geometry;
}

}
