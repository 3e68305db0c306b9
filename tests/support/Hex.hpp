// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/MeshGraph.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace inSitu
{

//- A block of nx × ny × nz hexahedra as OpenFOAM would number it: cell i + nx (j + ny k),
//  internal faces in upper-triangular order, then the faces of the six sides
//  (x min, x max, y min, …), each in the order of its cells.
struct Hex
{
    struct Side
    {
        std::int32_t firstFace = 0;
        std::vector<std::int32_t> cells;
        std::vector<double> centres;        //!< [nFaces, 3]

        BoundaryPatch patch() const { return {firstFace, cells}; }
    };

    std::array<int, 3> n;
    std::array<double, 3> spacing;
    std::vector<std::int32_t> owner;
    std::vector<std::int32_t> neighbour;
    std::vector<double> centres;            //!< [nCells, 3]
    std::vector<double> volumes;
    std::array<Side, 6> sides;

    Hex(int nx, int ny, int nz, std::array<double, 3> cellSize = {1, 1, 1})
    :
        n{nx, ny, nz},
        spacing(cellSize)
    {
        const std::array<int, 3> stride{1, nx, nx*ny};
        std::array<int, 3> at;
        for (at[2] = 0; at[2] < nz; ++at[2])
        for (at[1] = 0; at[1] < ny; ++at[1])
        for (at[0] = 0; at[0] < nx; ++at[0])
        {
            const std::int32_t cell = nCells();
            volumes.push_back(spacing[0]*spacing[1]*spacing[2]);
            for (int d = 0; d < 3; ++d)
            {
                centres.push_back((at[d] + 0.5)*spacing[d]);
            }
            for (int d = 0; d < 3; ++d)
            {
                if (at[d] + 1 < n[d])
                {
                    owner.push_back(cell);
                    neighbour.push_back(cell + stride[d]);
                }
                for (const int end : {0, 1})
                {
                    if (at[d] == (end ? n[d] - 1 : 0))
                    {
                        Side& side = sides[2*d + end];
                        side.cells.push_back(cell);
                        for (int c = 0; c < 3; ++c)
                        {
                            side.centres.push_back
                            (
                                (at[c] + (c == d ? end : 0.5))*spacing[c]
                            );
                        }
                    }
                }
            }
        }

        std::int32_t face = static_cast<std::int32_t>(owner.size());
        for (Side& side : sides)
        {
            side.firstFace = face;
            face += static_cast<std::int32_t>(side.cells.size());
        }
    }

    std::int32_t nCells() const { return static_cast<std::int32_t>(volumes.size()); }

    //- Given sides as boundary patches
    std::vector<BoundaryPatch> boundary(const std::vector<int>& which = {0, 1, 2, 3, 4, 5}) const
    {
        std::vector<BoundaryPatch> patches;
        for (const int side : which)
        {
            patches.push_back(sides[side].patch());
        }
        return patches;
    }

    //- The two sides across a direction as the halves of a cyclic
    std::vector<CoupledPatch> cyclic(int direction) const
    {
        const Side& low = sides[2*direction];
        const Side& high = sides[2*direction + 1];
        return
        {
            {low.firstFace, low.cells, high.cells, high.firstFace},
            {high.firstFace, high.cells, low.cells, low.firstFace}
        };
    }

    //- Two sides whose faces have slid past each other
    struct Interface
    {
        Side low, high;
        std::vector<std::int32_t> lowStart{0}, highStart{0};
        std::vector<std::int32_t> toHigh, toLow;        //!< faces that each face meets

        std::vector<CoupledPatch> halves() const
        {
            return
            {
                {low.firstFace, low.cells, high.cells, high.firstFace, lowStart, toHigh},
                {high.firstFace, high.cells, low.cells, low.firstFace, highStart, toLow}
            };
        }
    };

    //- The two sides across a direction as a sliding interface, out of step by part of a face:
    //  face i of the lower side meets i and i + 1 of the upper one, the last one i only
    Interface sliding(int direction) const
    {
        Interface result;
        result.low = sides[2*direction];
        result.high = sides[2*direction + 1];
        const auto nFaces = static_cast<std::int32_t>(result.low.cells.size());
        for (std::int32_t i = 0; i < nFaces; ++i)
        {
            result.toHigh.push_back(i);
            if (i + 1 < nFaces)
            {
                result.toHigh.push_back(i + 1);
            }
            if (i > 0)
            {
                result.toLow.push_back(i - 1);
            }
            result.toLow.push_back(i);
            result.lowStart.push_back(static_cast<std::int32_t>(result.toHigh.size()));
            result.highStart.push_back(static_cast<std::int32_t>(result.toLow.size()));
        }
        return result;
    }

    //- Centres of the cells, then of the faces of the given sides: the nodes of a graph
    std::vector<double> nodeCentres(const std::vector<int>& which = {0, 1, 2, 3, 4, 5}) const
    {
        std::vector<double> nodes = centres;
        for (const int side : which)
        {
            nodes.insert(nodes.end(), sides[side].centres.begin(), sides[side].centres.end());
        }
        return nodes;
    }
};

}
