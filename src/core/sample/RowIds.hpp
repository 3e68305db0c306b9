// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/StateTree.hpp"
#include "graph/MeshGraph.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inSitu
{

//- Names of the rows of this rank in the whole mesh
struct RowIds
{
    std::vector<std::int64_t> cells;        //!< [nCells]
    std::vector<std::int64_t> faces;        //!< of the boundary rows [nBoundary], ascending with
                                            //!< their order in the whole mesh

    //- Those of the undecomposed mesh. Otherwise the ranks' rows are counted through, and another
    //  decomposition gives other names.
    bool undecomposed = false;

    //- On one rank: cells as they are numbered, boundary rows by their face
    static RowIds asNumbered(const MeshGraph& graph);

    std::size_t bytes() const { return (cells.size() + faces.size())*sizeof(std::int64_t); }
    bool operator==(const RowIds& other) const;

    StateTree save() const;
    static RowIds load(const StateTree& state);
};

//- Of the cell that each halo row stands for [nHalo]. Collective.
std::vector<std::int64_t> haloIds(const MeshGraph& graph, const RowIds& ids, const Comm& comm);

}
