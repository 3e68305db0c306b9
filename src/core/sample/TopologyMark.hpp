// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/StateTree.hpp"
#include "sample/Sample.hpp"

#include <cstdint>

namespace inSitu
{

//- What tells the topology of the whole mesh from another one: sums over all ranks of numbers that
//  are made of the names of rows, hence the same for every decomposition if the names are
struct TopologyMark
{
    std::int64_t rows = 0;          //!< of cells, and boundary faces with their cell
    std::int64_t edges = 0;         //!< between cells, sliding interfaces left out
    bool complete = true;           //!< edges between ranks are there
    bool undecomposed = false;      //!< the names are (RowIds::undecomposed)

    //- Collective
    static TopologyMark of(const MeshState& mesh, const RowIds& ids, const Comm& comm);

    //- Both name the rows of the undecomposed mesh: they can be compared
    bool isComparable(const TopologyMark& other) const
    {
        return undecomposed && other.undecomposed;
    }

    bool isSame(const TopologyMark& other) const;

    StateTree save() const;
    static TopologyMark load(const StateTree& state);
};

//- Checksum of the topology as this rank has it, halo included
std::int64_t topologyChecksum(const MeshState& mesh);

}
