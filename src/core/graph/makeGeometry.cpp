// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGeometry.hpp"

#include "base/Error.hpp"
#include "graph/countingOrder.hpp"
#include "graph/geometryChecks.hpp"

#include <string>
#include <utility>

namespace inSitu
{
namespace
{

// From a cell to the one that it meets
struct Way
{
    const double* delta;
    double weight;
};


// Hands out the meetings of each coupled face, one for each edge through it
class Meetings
{
public:

    explicit Meetings(const CoupledDisplacement& patch)
    :
        patch_(patch)
    {
        const std::size_t nMeetings = patch.delta.size()/3;
        const std::string meetings =
            "meetings of the patch at face " + std::to_string(patch.firstFace);
        if (patch.start.empty())
        {
            next_ = sequence(nMeetings);
            end_ = sequence(nMeetings + 1);
            end_.erase(end_.begin());
        }
        else
        {
            next_.assign(patch.start.begin(), patch.start.end() - 1);
            end_.assign(patch.start.begin() + 1, patch.start.end());
            requireSize(nMeetings, *(patch.start.end() - 1), meetings);
        }
        if (!patch.weights.empty())
        {
            requireSize(patch.weights.size(), nMeetings, "weights for the " + meetings);
        }
    }

    //- Whether the face belongs to the patch and has a meeting left
    bool has(std::int32_t face) const
    {
        const std::int64_t i = static_cast<std::int64_t>(face) - patch_.firstFace;
        return i >= 0 && i < static_cast<std::int64_t>(next_.size()) && next_[i] < end_[i];
    }

    Way take(std::int32_t face)
    {
        const std::int32_t meeting = next_[face - patch_.firstFace]++;
        return {&patch_.delta[3*meeting], patch_.weights.empty() ? 1 : patch_.weights[meeting]};
    }

    void requireAllTaken() const
    {
        for (std::size_t i = 0; i < next_.size(); ++i)
        {
            if (next_[i] != end_[i])
            {
                throw Error("the graph has fewer edges through the coupled face "
                    + std::to_string(patch_.firstFace + i) + " than displacements are given");
            }
        }
    }

private:

    CoupledDisplacement patch_;
    GraphIndices next_;
    GraphIndices end_;
};


Way takeWay(std::int32_t face, std::vector<Meetings>& patches)
{
    for (Meetings& patch : patches)
    {
        if (patch.has(face))
        {
            return patch.take(face);
        }
    }
    throw Error("no displacement is given for an edge through the coupled face "
        + std::to_string(face));
}

}


MeshGeometry makeGeometry
(
    const MeshGraph& graph,
    std::vector<double> centres,
    std::vector<double> cellVolumes,
    std::vector<int> directions,
    const std::vector<CoupledDisplacement>& displacements,
    bool weighted
)
{
    requireSize(centres.size(), 3*static_cast<std::size_t>(graph.nNodes()), "coordinates");
    requireSize(cellVolumes.size(), static_cast<std::size_t>(graph.nCells()), "cell volumes");
    if (!areDirections(directions))
    {
        throw Error("the active directions of a geometry are some of 0 1 2, ascending");
    }

    MeshGeometry geometry;
    geometry.centres = std::move(centres);
    geometry.cellVolumes = std::move(cellVolumes);
    geometry.directions = std::move(directions);
    geometry.weighted = weighted;

    std::vector<Meetings> patches(displacements.begin(), displacements.end());
    for (std::int32_t edge = 0; edge < graph.nEdges(); ++edge)
    {
        if (graph.isCoupled(edge))
        {
            const Way way = takeWay(graph.faceOf()[edge], patches);
            geometry.displacements.insert(geometry.displacements.end(), way.delta, way.delta + 3);
            if (weighted)
            {
                geometry.weights.push_back(way.weight);
            }
        }
    }
    for (const Meetings& patch : patches)
    {
        patch.requireAllTaken();
    }
    return geometry;
}

}
