// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/MeshGeometry.hpp"
#include "graph/MeshGraph.hpp"
#include "group/TrainerMap.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace inSitu
{

//- The graphs of the ranks of a group as one. Its cells are those of all members in the order of
//  the ranks, then come their boundary rows in that order. Halo rows from members become edges
//  between cells, through coupled faces on either side, without a reverse edge; those from other
//  groups stay halo rows, sent by the trainer there. Faces of members are counted on: internal
//  ones first.
class UnitedGraph
{
public:

    //- The members' graphs in the order of their ranks, with halos as makeHaloPlan() on all ranks
    //  gives, or all without; trainer: whose group it is. The trainers' graphs fit each other
    //  without a message. Throws Error if the halos contradict each other.
    UnitedGraph(const std::vector<MeshGraph>& parts, const TrainerMap& map, int trainer);

    const MeshGraph& graph() const { return graph_; }

    //- Where the cells and boundary faces of each member begin, and the end
    const std::vector<std::int32_t>& cellStart() const { return cellStart_; }
    const std::vector<std::int32_t>& boundaryStart() const { return boundaryStart_; }

    //- The geometries of the members as that of the graph; they must fit their graphs
    MeshGeometry geometry(const std::vector<MeshGeometry>& parts) const;

    //- Values of the members' rows, or only of their cells, as those of the graph's [rows, width]
    template<class T>
    std::vector<T> rows(const std::vector<std::vector<T>>& parts, std::size_t width) const;

    //- Values [nEdges, width] of the edges of one member after the other as those of the graph's
    template<class T>
    std::vector<T> edges(Span<const T> values, std::size_t width) const;

    //- The other way: those of the rows, or only of the cells, of a member
    template<class T>
    std::vector<T> part(std::size_t member, const std::vector<T>& rows, std::size_t width,
        bool boundary) const;

private:

    MeshGraph graph_;
    std::vector<std::int32_t> cellStart_;
    std::vector<std::int32_t> boundaryStart_;
    std::vector<std::vector<std::int32_t>> places_;     // of the edges of each member
};


template<class T>
std::vector<T> UnitedGraph::rows(const std::vector<std::vector<T>>& parts,
    std::size_t width) const
{
    std::vector<T> result;
    for (const bool boundary : {false, true})
    {
        for (std::size_t member = 0; member < parts.size(); ++member)
        {
            const auto split = parts[member].begin()
                + width*(cellStart_[member + 1] - cellStart_[member]);
            result.insert(result.end(), boundary ? split : parts[member].begin(),
                boundary ? parts[member].end() : split);
        }
    }
    return result;
}


template<class T>
std::vector<T> UnitedGraph::edges(Span<const T> values, std::size_t width) const
{
    std::vector<T> result(values.size());
    const T* value = values.begin();
    for (const std::vector<std::int32_t>& ofMember : places_)
    {
        for (const std::int32_t place : ofMember)
        {
            std::copy_n(value, width, &result[width*place]);
            value += width;
        }
    }
    return result;
}


template<class T>
std::vector<T> UnitedGraph::part(std::size_t member, const std::vector<T>& rows,
    std::size_t width, bool boundary) const
{
    std::vector<T> result(rows.begin() + width*cellStart_[member],
        rows.begin() + width*cellStart_[member + 1]);
    if (boundary)
    {
        const auto faces = rows.begin() + width*cellStart_.back();
        result.insert(result.end(), faces + width*boundaryStart_[member],
            faces + width*boundaryStart_[member + 1]);
    }
    return result;
}

}
