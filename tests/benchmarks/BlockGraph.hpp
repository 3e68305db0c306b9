// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Hex.hpp"

#include <memory>

namespace inSitu
{

//- Cells of a block, edges both ways over every internal face
inline std::shared_ptr<const MeshGraph> blockGraph(const int (&n)[3])
{
    const Hex hex(n[0], n[1], n[2]);
    return std::make_shared<MeshGraph>(
        MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour));
}

}
