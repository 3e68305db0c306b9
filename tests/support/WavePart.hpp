// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "SplitMesh.hpp"
#include "WaveCase.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace inSitu
{

//- The rank of each cell: a slab for each rank, and every fifth cell, counted from odd, elsewhere
inline FaceMesh::Indices raggedRanks(int nCells, int nRanks, int odd = 3)
{
    FaceMesh::Indices ranks;
    for (int cell = 0; cell < nCells; ++cell)
    {
        ranks.push_back(cell % 5 == odd ? (cell/5) % nRanks : nRanks*cell*cell/(nCells*nCells));
    }
    return ranks;
}


//- The part of a WaveCase that lies on one rank
class WavePart
{
public:

    //- rankOf[cell] of the whole case; comm outlives this
    WavePart(WaveCase whole, FaceMesh::Indices rankOf, const Comm& comm)
    :
        whole_(std::move(whole)),
        rankOf_(std::move(rankOf)),
        comm_(comm)
    {}

    TrainingCase theCase() const { return whole_.theCase(); }
    WaveCase& whole() { return whole_; }

    //- As if no lists of the undecomposed mesh were there
    void forgetNames() { named_ = false; }

    //- Cells of the whole case, in the order of those here
    const FaceMesh::Indices& cells() const { return part_->cells; }

    //- Collective whenever the whole case has another graph
    CaseMesh mesh()
    {
        const CaseMesh all = whole_.mesh();
        if (!part_ || all.state.graph != wholeGraph_)
        {
            wholeGraph_ = all.state.graph;
            part_ = std::make_unique<MeshPart>(whole_.faces(), rankOf_, comm_.rank());
            graph_ = part_->graph(comm_);
            ids_ = std::make_shared<RowIds>(names());
            features_ = std::make_shared<std::vector<float>>(ofRows(*all.state.staticFeatures));
        }

        const MeshGeometry& geometry = *all.state.geometry;
        const std::vector<double> centres = ofRows(geometry.centres);
        std::vector<double> volumes, delta;
        for (const std::int32_t cell : part_->cells)
        {
            volumes.push_back(geometry.cellVolumes[cell]);
        }
        const auto edges = globalEdges(*part_, *graph_, *wholeGraph_);
        for (std::int32_t row = 0; row < graph_->nHalo(); ++row)
        {
            const std::int32_t edge = edges[graph_->haloEdge()[row]];
            for (int i = 0; i < 3; ++i)
            {
                delta.push_back(geometry.centres[3*wholeGraph_->senders()[edge] + i]
                    - geometry.centres[3*wholeGraph_->receivers()[edge] + i]);
            }
        }
        std::vector<CoupledDisplacement> displacements;
        if (!part_->links.empty())
        {
            displacements.push_back({part_->links.front().face, delta});
        }

        CaseMesh mesh;
        mesh.state.graph = graph_;
        mesh.state.geometry = std::make_shared<MeshGeometry>(
            makeGeometry(*graph_, centres, volumes, geometry.directions, displacements));
        mesh.state.staticFeatures = features_;
        mesh.state.ids = ids_;
        mesh.text = all.text;
        mesh.placeOfRow = [](std::int64_t row) { return "row " + std::to_string(row); };
        return mesh;
    }

    //- Valid until the next call; mesh() comes first
    const std::vector<FieldView<double>>& fields(double time)
    {
        const std::vector<FieldView<double>>& all = whole_.fields(time);
        views_.resize(all.size());
        values_.resize(all.size());
        for (std::size_t i = 0; i < all.size(); ++i)
        {
            std::vector<double> whole(all[i].cells.begin(), all[i].cells.end());
            for (const auto& patch : all[i].patches)
            {
                whole.insert(whole.end(), patch.begin(), patch.end());
            }
            values_[i] = ofRows(whole);
            const std::size_t n = values_[i].size()/graph_->nNodes();
            views_[i] =
            {
                {values_[i].data(), n*graph_->nCells()},
                {{values_[i].data() + n*graph_->nCells(), n*graph_->nBoundary()}}
            };
        }
        return views_;
    }

private:

    //- Of the undecomposed mesh, or counted through the ranks
    RowIds names() const
    {
        RowIds ids = RowIds::asNumbered(*graph_);
        ids.undecomposed = named_;
        if (!named_)
        {
            const FaceMesh faces = whole_.faces();
            const auto isBefore = [&](std::int32_t cell) { return rankOf_[cell] < comm_.rank(); };
            const FaceMesh::Indices& wall = faces.patches[0].cells;
            std::iota(ids.faces.begin(), ids.faces.end(),
                std::count_if(wall.begin(), wall.end(), isBefore));
            std::iota(ids.cells.begin(), ids.cells.end(), std::count_if(rankOf_.begin(),
                rankOf_.end(), [&](std::int32_t rank) { return rank < comm_.rank(); }));
            return ids;
        }
        std::copy(part_->cells.begin(), part_->cells.end(), ids.cells.begin());
        for (std::int64_t& face : ids.faces)
        {
            face = part_->faces[face];
        }
        return ids;
    }

    template<class Value>
    std::vector<Value> ofRows(const std::vector<Value>& whole) const
    {
        const std::size_t width = whole.size()/wholeGraph_->nNodes();
        std::vector<Value> rows;
        for (std::int32_t node = 0; node < graph_->nNodes(); ++node)
        {
            const auto first = whole.begin() + width*part_->globalNode(node);
            rows.insert(rows.end(), first, first + width);
        }
        return rows;
    }

    WaveCase whole_;
    FaceMesh::Indices rankOf_;
    const Comm& comm_;
    bool named_ = true;
    std::unique_ptr<MeshPart> part_;
    std::shared_ptr<const MeshGraph> wholeGraph_;
    std::shared_ptr<const MeshGraph> graph_;
    std::shared_ptr<const RowIds> ids_;
    std::shared_ptr<const std::vector<float>> features_;
    std::vector<std::vector<double>> values_;
    std::vector<FieldView<double>> views_;
};

}
