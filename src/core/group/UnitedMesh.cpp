// SPDX-License-Identifier: GPL-3.0-or-later
#include "group/UnitedMesh.hpp"

#include "base/Error.hpp"
#include "base/packedTree.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace inSitu
{
namespace
{

//- Of the static features, which have no width of their own
std::size_t widthOf(const std::vector<float>& features, const MeshGraph& graph)
{
    return graph.nNodes() > 0 ? features.size()/graph.nNodes() : 0;
}


//- Of the mesh of a rank, what is to be sent
StateTree partOf(const MeshState& mesh, bool graph, bool geometry, bool features)
{
    StateTree part;
    if (graph)
    {
        part.putTree("graph", mesh.graph->save());
        part.putTree("ids", mesh.names()->save());
        if (mesh.cellMask)
        {
            part.put("mask", *mesh.cellMask);
        }
    }
    if (geometry)
    {
        part.putTree("geometry", mesh.geometry->save());
    }
    if (features)
    {
        part.put("features", *mesh.staticFeatures);
        part.putInt("width",
            static_cast<std::int64_t>(widthOf(*mesh.staticFeatures, *mesh.graph)));
    }
    return part;
}


const std::vector<double>& maskOf(const MeshState& mesh)
{
    static const std::vector<double> none;
    return mesh.cellMask ? *mesh.cellMask : none;
}


template<class T>
std::string firstOther(const std::vector<T>& held, const std::vector<T>& fresh, const char* what)
{
    if (held.size() != fresh.size())
    {
        return "the number of entries for the " + std::string(what) + " is "
            + std::to_string(held.size()) + ", the members give " + std::to_string(fresh.size());
    }
    const auto [a, b] = std::mismatch(held.begin(), held.end(), fresh.begin());
    return a == held.end() ? std::string()
        : what + (' ' + std::to_string(a - held.begin())) + " is " + std::to_string(*a)
            + ", the members give " + std::to_string(*b);
}

}


UnitedMesh::UnitedMesh(std::shared_ptr<Comm> all, std::shared_ptr<Comm> group, TrainerMap map)
:
    all_(std::move(all)),
    group_(std::move(group)),
    map_(std::move(map))
{}


CaseMesh UnitedMesh::unite(const CaseMesh& mesh)
{
    const MeshState& now = mesh.state;
    if (now.geometry->weighted)
    {
        throw Error("trainerRanks: on a mesh with sliding interfaces the network works on every"
            " rank; leave the entry out");
    }

    // Alike on all ranks, so that the graphs of the trainers fit each other
    const bool isNew = !last_.graph || now.graph != last_.graph || now.ids != last_.ids
        || now.cellMask != last_.cellMask;
    double changed[3] =
    {
        double(isNew), double(now.geometry != last_.geometry),
        double(now.staticFeatures != last_.staticFeatures)
    };
    all_->max(Span<double>(changed, 3));
    const bool graph = changed[0] > 0;
    const bool geometry = graph || changed[1] > 0;
    const bool features = graph || changed[2] > 0;
    last_ = now;
    rowsAreNew_ = graph;

    if (geometry || features)
    {
        const std::vector<Comm::Bytes> parts =
            group_->gather(packed(partOf(now, graph, geometry, features)));
        if (group_->isMaster())
        {
            take(parts, graph, geometry, features);
        }
    }

    CaseMesh united;
    united.state = state_;
    united.text = mesh.text;
    united.placeOfRow = [rows = rows_, ranks = map_.members[map_.trainerOf[all_->rank()]]]
        (std::int64_t row)
    {
        const std::int64_t nCells = rows->cellStart().back();
        const std::vector<std::int32_t>& start =
            row < nCells ? rows->cellStart() : rows->boundaryStart();
        const std::int64_t i = row < nCells ? row : row - nCells;
        const auto member = std::upper_bound(start.begin(), start.end(), i) - start.begin() - 1;
        return (row < nCells ? "cell " : "boundary face ") + std::to_string(i - start[member])
            + " of rank " + std::to_string(ranks[member]);
    };
    return united;
}


void UnitedMesh::take(const std::vector<Comm::Bytes>& bytes, bool graph, bool geometry,
    bool features)
{
    std::vector<StateTree> parts;
    for (const Comm::Bytes& part : bytes)
    {
        parts.push_back(unpackedTree(part));
    }
    const auto ofAll = [&](auto take)
    {
        std::vector<decltype(take(parts.front()))> values;
        for (const StateTree& part : parts)
        {
            values.push_back(take(part));
        }
        return values;
    };

    if (graph)
    {
        rows_ = std::make_shared<const UnitedGraph>(ofAll([](const StateTree& part)
            { return MeshGraph::load(part.subTree("graph")); }), map_,
            map_.trainerOf[all_->rank()]);
        state_.graph = std::make_shared<const MeshGraph>(rows_->graph());

        RowIds ids{{}, {}, true};
        for (const StateTree& part : parts)
        {
            const RowIds ofPart = RowIds::load(part.subTree("ids"));
            ids.cells.insert(ids.cells.end(), ofPart.cells.begin(), ofPart.cells.end());
            ids.faces.insert(ids.faces.end(), ofPart.faces.begin(), ofPart.faces.end());
            ids.undecomposed = ids.undecomposed && ofPart.undecomposed;
        }
        state_.ids = std::make_shared<const RowIds>(std::move(ids));
        state_.cellMask = nullptr;
        if (parts.front().has("mask"))
        {
            state_.cellMask = std::make_shared<const std::vector<double>>(rows_->rows(
                ofAll([](const StateTree& part) { return part.get<double>("mask"); }), 1));
        }
    }
    if (geometry)
    {
        state_.geometry = std::make_shared<const MeshGeometry>(rows_->geometry(
            ofAll([](const StateTree& part)
            { return MeshGeometry::load(part.subTree("geometry")); })));
    }
    if (features)
    {
        std::int64_t width = 0;
        for (const StateTree& part : parts)
        {
            width = std::max(width, part.getInt("width"));
        }
        state_.staticFeatures = std::make_shared<const std::vector<float>>(rows_->rows(
            ofAll([](const StateTree& part) { return part.get<float>("features"); }),
            static_cast<std::size_t>(width)));
    }
}


void UnitedMesh::check() const
{
    if (!last_.graph)
    {
        return;
    }
    UnitedMesh other(all_, group_, map_);
    const MeshState fresh = other.unite({last_, {}, {}}).state;
    if (!group_->isMaster())
    {
        return;
    }
    for (const std::string& difference :
        {
            firstDifference(*state_.graph, *fresh.graph),
            firstDifference(*state_.geometry, *fresh.geometry),
            firstOther(*state_.staticFeatures, *fresh.staticFeatures, "static feature"),
            firstOther(maskOf(state_), maskOf(fresh), "entry of the mask"),
            firstOther(state_.ids->cells, fresh.ids->cells, "name of a cell"),
            firstOther(state_.ids->faces, fresh.ids->faces, "name of a face")
        })
    {
        if (!difference.empty())
        {
            throw Error("selfCheck: the mesh of the group is stale: " + difference);
        }
    }
}

}
