// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGeometry.hpp"

#include "base/Error.hpp"
#include "graph/countingOrder.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

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


bool areDirections(const std::vector<int>& directions)
{
    return !directions.empty() && directions.front() >= 0 && directions.back() <= 2
        && std::adjacent_find(directions.begin(), directions.end(), std::greater_equal<int>())
            == directions.end();
}


std::size_t nCoupled(const MeshGraph& graph)
{
    std::size_t n = 0;
    for (std::int32_t edge = 0; edge < graph.nEdges(); ++edge)
    {
        n += graph.isCoupled(edge);
    }
    return n;
}


// Hands out the meetings of each coupled face, one for each edge through it
class Meetings
{
public:

    explicit Meetings(const CoupledDisplacement& patch)
    :
        patch_(patch)
    {
        const std::size_t nMeetings = patch.delta.size()/3;
        const std::string place = "meetings of the patch at face " + std::to_string(patch.firstFace);
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
            requireSize(nMeetings, *(patch.start.end() - 1), place.c_str());
        }
        if (!patch.weights.empty())
        {
            requireSize(patch.weights.size(), nMeetings, ("weights for the " + place).c_str());
        }
    }

    bool hasFace(std::int32_t face) const
    {
        return face >= patch_.firstFace
            && static_cast<std::size_t>(face) - patch_.firstFace < next_.size();
    }

    bool hasMore(std::int32_t face) const
    {
        const std::int32_t i = face - patch_.firstFace;
        return next_[i] < end_[i];
    }

    std::int32_t next(std::int32_t face) { return next_[face - patch_.firstFace]++; }

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

    const CoupledDisplacement& patch() const { return patch_; }

private:

    CoupledDisplacement patch_;
    GraphIndices next_;
    GraphIndices end_;
};


Meetings& meetingsOf(std::int32_t face, std::vector<Meetings>& all)
{
    for (Meetings& meetings : all)
    {
        if (meetings.hasFace(face) && meetings.hasMore(face))
        {
            return meetings;
        }
    }
    throw Error("no displacement is given for an edge through the coupled face "
        + std::to_string(face));
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

    std::vector<Meetings> all(displacements.begin(), displacements.end());
    for (std::int32_t e = 0; e < graph.nEdges(); ++e)
    {
        if (!graph.isCoupled(e))
        {
            continue;
        }
        const std::int32_t face = graph.faceOf()[e];
        Meetings& meetings = meetingsOf(face, all);
        const CoupledDisplacement& patch = meetings.patch();
        const std::int32_t i = meetings.next(face);
        geometry.displacements.insert(geometry.displacements.end(),
            &patch.delta[3*i], &patch.delta[3*i] + 3);
        if (weighted)
        {
            geometry.weights.push_back(patch.weights.empty() ? 1 : patch.weights[i]);
        }
    }
    for (const Meetings& meetings : all)
    {
        meetings.requireAllTaken();
    }
    return geometry;
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
