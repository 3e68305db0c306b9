// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGraph.hpp"

#include "base/Error.hpp"
#include "graph/countingOrder.hpp"
#include "graph/patchChecks.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace inSitu
{
namespace
{

using Index = GraphIndex;
using Indices = GraphIndices;


// The meetings of face i are firstMeeting(i) .. firstMeeting(i+1)-1
Index firstMeeting(const CoupledPatch& patch, Index i)
{
    return patch.start.empty() ? i : patch.start[i];
}


Index metFace(const CoupledPatch& patch, Index meeting)
{
    return patch.start.empty() ? meeting : patch.neighbourFaces[meeting];
}


Index nFaces(const CoupledPatch& patch)
{
    return static_cast<Index>(patch.cells.size());
}


std::string placeOf(const CoupledPatch& patch)
{
    return "the coupled patch at face " + std::to_string(patch.firstFace);
}


void requireMeetings(const CoupledPatch& patch)
{
    const auto fail = [&](const std::string& what) { throw Error(placeOf(patch) + ' ' + what); };

    if (patch.start.empty())
    {
        if (!patch.neighbourFaces.empty() || patch.neighbourCells.size() != patch.cells.size())
        {
            fail("is one-to-one, but its halves have " + std::to_string(patch.cells.size())
                + " and " + std::to_string(patch.neighbourCells.size()) + " faces");
        }
        return;
    }
    if
    (
        patch.start.size() != patch.cells.size() + 1
     || patch.start[0] != 0
     || !std::is_sorted(patch.start.begin(), patch.start.end())
     || static_cast<std::size_t>(*(patch.start.end() - 1)) != patch.neighbourFaces.size()
    )
    {
        fail("has starts that do not divide its " + std::to_string(patch.neighbourFaces.size())
            + " meetings among " + std::to_string(patch.cells.size()) + " faces");
    }
    for (Index i = 0; i < nFaces(patch); ++i)
    {
        for (Index k = patch.start[i]; k < patch.start[i + 1]; ++k)
        {
            const Index j = patch.neighbourFaces[k];
            if (!inside(j, static_cast<Index>(patch.neighbourCells.size())))
            {
                fail("meets face " + std::to_string(j) + " of the other half, which has "
                    + std::to_string(patch.neighbourCells.size()));
            }
            const Index previous = k > patch.start[i] ? patch.neighbourFaces[k - 1] : -1;
            if
            (
                previous >= 0
             && std::tie(patch.neighbourCells[previous], previous)
                 >= std::tie(patch.neighbourCells[j], j)
            )
            {
                fail("lists the faces that its face " + std::to_string(i)
                    + " meets in another order than that of their cells");
            }
        }
    }
}


// The other half of a coupled patch
std::size_t matchOf(const std::vector<CoupledPatch>& coupled, std::size_t patch)
{
    const CoupledPatch& half = coupled[patch];
    for (std::size_t i = 0; i < coupled.size(); ++i)
    {
        const CoupledPatch& other = coupled[i];
        if
        (
            i != patch
         && other.firstFace == half.neighbourFirstFace
         && other.neighbourFirstFace == half.firstFace
         && std::equal(half.cells.begin(), half.cells.end(),
                other.neighbourCells.begin(), other.neighbourCells.end())
         && std::equal(half.neighbourCells.begin(), half.neighbourCells.end(),
                other.cells.begin(), other.cells.end())
        )
        {
            return i;
        }
    }
    throw Error("the coupled patch that starts at face " + std::to_string(half.firstFace)
        + " has no matching half at face " + std::to_string(half.neighbourFirstFace)
        + "; both halves must be given, with cells and neighbourCells exchanged");
}


// The meeting of face j of a patch with face i of its other half; -1: none
Index meetingOf(const CoupledPatch& patch, Index j, Index i)
{
    for (Index k = firstMeeting(patch, j); k < firstMeeting(patch, j + 1); ++k)
    {
        if (metFace(patch, k) == i)
        {
            return k;
        }
    }
    return -1;
}


// Meetings of two faces, one after the other by patch and face
struct Links
{
    Indices face;
    Indices receiver;
    Indices sender;
    Indices reverse;        // link the other way, -1: none
};


Links linksOf(const std::vector<CoupledPatch>& coupled, Index nCells)
{
    Links links;
    Indices firstLink;
    for (const CoupledPatch& patch : coupled)
    {
        requireInside(patch.cells, nCells, placeOf(patch));
        requireMeetings(patch);
        firstLink.push_back(static_cast<Index>(links.face.size()));
        for (Index i = 0; i < nFaces(patch); ++i)
        {
            for (Index k = firstMeeting(patch, i); k < firstMeeting(patch, i + 1); ++k)
            {
                links.face.push_back(patch.firstFace + i);
                links.receiver.push_back(patch.cells[i]);
                links.sender.push_back(patch.neighbourCells[metFace(patch, k)]);
            }
        }
    }
    for (std::size_t p = 0; p < coupled.size(); ++p)
    {
        const std::size_t match = matchOf(coupled, p);
        for (Index i = 0; i < nFaces(coupled[p]); ++i)
        {
            for (Index k = firstMeeting(coupled[p], i); k < firstMeeting(coupled[p], i + 1); ++k)
            {
                const Index back = meetingOf(coupled[match], metFace(coupled[p], k), i);
                links.reverse.push_back(back < 0 ? -1 : firstLink[match] + back);
            }
        }
    }
    return links;
}

}


MeshGraph MeshGraph::withCoupled(const std::vector<CoupledPatch>& coupled) const
{
    if (halo_)
    {
        throw Error("a graph gets its coupled patches before its halo");
    }
    requireFaceOrder(coupled, nInternalFaces_, "coupled");
    const Links links = linksOf(coupled, nCells_);
    const std::size_t nLinks = links.face.size();

    // By receiver, then sender, then position
    const Indices bySender = countingOrder(sequence(nLinks), nCells_,
        [&](Index i) { return links.sender[i]; });
    const Indices order = countingOrder(bySender, nCells_,
        [&](Index i) { return links.receiver[i]; });

    MeshGraph graph;
    graph.nNodes_ = nNodes_;
    graph.nCells_ = nCells_;
    graph.nBoundary_ = nBoundary_;
    graph.nInternalFaces_ = nInternalFaces_;
    graph.allocate(static_cast<std::int64_t>(nEdges()) + static_cast<std::int64_t>(nLinks));

    Indices placeOfEdge(senders_.size());
    Indices placeOfLink(nLinks);
    Index place = 0;
    auto link = order.begin();
    for (Index row = 0; row < nNodes_; ++row)
    {
        graph.receiverStart_[row] = place;
        Index edge = receiverStart_[row];
        const auto copyWhile = [&](const auto& comesFirst)
        {
            for (; edge < receiverStart_[row + 1] && comesFirst(edge); ++edge, ++place)
            {
                graph.senders_[place] = senders_[edge];
                graph.faceOf_[place] = faceOf_[edge];
                placeOfEdge[edge] = place;
            }
        };
        for (; link != order.end() && links.receiver[*link] == row; ++link, ++place)
        {
            copyWhile([&](Index e)
            {
                return std::tie(senders_[e], faceOf_[e])
                    < std::tie(links.sender[*link], links.face[*link]);
            });
            graph.senders_[place] = links.sender[*link];
            graph.faceOf_[place] = links.face[*link];
            placeOfLink[*link] = place;
        }
        copyWhile([](Index) { return true; });
    }
    graph.receiverStart_[nNodes_] = place;

    const auto linkBack = [&graph](const Indices& places, Span<const Index> reverse)
    {
        for (std::size_t i = 0; i < places.size(); ++i)
        {
            graph.reverseEdge_[places[i]] = reverse[i] < 0 ? -1 : places[reverse[i]];
        }
    };
    linkBack(placeOfEdge, reverseEdge_);
    linkBack(placeOfLink, links.reverse);
    return graph;
}

}
