// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Error.hpp"
#include "base/Span.hpp"
#include "graph/countingOrder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace inSitu
{

//- Throw Error if a face has a cell that the mesh has not
inline void requireInside
(
    Span<const GraphIndex> cells,
    GraphIndex nCells,
    const std::string& place
)
{
    for (std::size_t i = 0; i < cells.size(); ++i)
    {
        if (!inside(cells[i], nCells))
        {
            throw Error("face " + std::to_string(i) + " of " + place + " has cell "
                + std::to_string(cells[i]) + ", outside the " + std::to_string(nCells)
                + " cells of the mesh");
        }
    }
}


//- Throw Error unless patches follow the internal faces in the order of their faces
template<class Patch>
void requireFaceOrder
(
    const std::vector<Patch>& patches,
    GraphIndex nInternalFaces,
    const char* kind
)
{
    std::int64_t end = nInternalFaces;
    for (const Patch& patch : patches)
    {
        if (patch.firstFace < end)
        {
            throw Error(std::string("the ") + kind + " patch that starts at face "
                + std::to_string(patch.firstFace) + " overlaps the faces before "
                + std::to_string(end) + "; patches follow the internal faces, in face order");
        }
        end = patch.firstFace + static_cast<std::int64_t>(patch.cells.size());
    }
}

}
