// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/StateTree.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inSitu
{

//- A cell of another rank that sends to a cell here, through a face here
struct HaloLink
{
    std::int32_t cell;
    std::int32_t face;
    std::int32_t rank;
    std::int32_t remoteCell;        //!< as that rank counts its cells
};


//- What the ranks have to tell each other about the cells at their borders. Each link has a row
//  of its own, a halo row, on the side of the receiver: one per cut face and side.
struct HaloPlan
{
    struct Neighbour
    {
        std::int32_t rank;
        std::int32_t nRows;         //!< halo rows that it fills, behind those of earlier ones
        std::int32_t nCells;        //!< entries of cells for its rows, behind those of earlier ones
    };

    std::vector<Neighbour> neighbours;  //!< ranks ascending
    std::vector<std::int32_t> cells;    //!< of this rank, one for each row elsewhere, in its order
    std::int32_t nRows = 0;             //!< halo rows here

    std::int32_t nSent() const { return static_cast<std::int32_t>(cells.size()); }

    std::size_t bytes() const;
    bool operator==(const HaloPlan& other) const;

    StateTree save() const;

    //- Throws Error if the arrays contradict each other or name a cell that is not there
    static HaloPlan load(const StateTree& state, std::int32_t nCells);
};

//- Agree with the other ranks. Links in ascending order of rank give the halo rows in that order.
//  Collective. Throws Error if they are in another order, or if another rank asks for a cell that
//  this one, with nCells of them, has not.
HaloPlan makeHaloPlan(const std::vector<HaloLink>& links, std::int32_t nCells, const Comm& comm);

}
