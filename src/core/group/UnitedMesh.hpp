// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "group/UnitedGraph.hpp"
#include "sample/TrainingCase.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace inSitu
{

//- The mesh of a group, which its trainer puts together from those of the members. What did not
//  change is not sent again, and stays the same object.
class UnitedMesh
{
public:

    //- all: the ranks whose numbers the halos have; group: those of this group, the trainer first
    UnitedMesh(std::shared_ptr<Comm> all, std::shared_ptr<Comm> group, TrainerMap map);

    //- The mesh of the group on its trainer, elsewhere nothing of use. Collective over all. Throws
    //  Error for a mesh with sliding interfaces.
    CaseMesh unite(const CaseMesh& mesh);

    //- Compare with what the members' meshes of unite() give now; before that there is nothing to
    //  compare. Collective over all. Throws Error that names the first entry that differs.
    void check() const;

    //- The last unite() has given other rows; the same on all ranks
    bool rowsAreNew() const { return rowsAreNew_; }

    //- On the trainer, behind unite()
    const UnitedGraph& rows() const { return *rows_; }

private:

    void take(const std::vector<Comm::Bytes>& bytes, bool graph, bool geometry, bool features);

    std::shared_ptr<Comm> all_;
    std::shared_ptr<Comm> group_;
    TrainerMap map_;
    MeshState last_;                    // of this rank
    bool rowsAreNew_ = false;
    std::shared_ptr<const UnitedGraph> rows_;
    MeshState state_;                   // of the group
};

}
