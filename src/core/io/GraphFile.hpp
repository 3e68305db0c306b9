// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "sample/Sample.hpp"

#include <string>

namespace inSitu
{

//- Write the graph that an artifact works on, for use outside the solver (HDF5):
//      edge_index   [2, E] int64: senders, then receivers
//      edges        [E, F] double, not divided by a length; attribute names "dx dy length"
//      edge_face    [E] int64, face of the mesh
//      edge_sign    [E] int64, 1 from the owner of the face, -1 into it
//      static       [N, S] float, further columns of the nodes; attribute names
//      centres      [N, 3] double, m: of cells, then of boundary faces
//      cell_volumes [nCells] double, m3
//      faces        [nBoundary] int64: the mesh face of each boundary row
//      n_nodes n_cells n_boundary n_edges, int64
//  and the root's attribute kind "mesh_graph". staticColumns are the names of static's
//  columns. Over several ranks it is the graph of the whole mesh, in the order of RowIds: that of
//  the undecomposed mesh, or the root has an attribute order "ranks" and no faces are there.
//  Where ranks know nothing of each other (no halo), an attribute missing says that edges are.
//  Written by the master: prepared beside, synced and renamed. Throws AgreedError. Collective.
void writeGraphFile(const std::string& path, const MeshState& mesh,
    const std::vector<std::string>& staticColumns, const Comm& comm = SerialComm());

}
