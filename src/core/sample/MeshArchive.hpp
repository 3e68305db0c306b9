// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"
#include "sample/Sample.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace inSitu
{

//- Mesh states on their way into a checkpoint and back. What samples share is saved once and
//  shared again. MeshState::inner is not saved.
class MeshArchive
{
public:

    //- Parts of present are only named: whoever loads has that mesh. An empty present makes an
    //  archive that stands for itself.
    explicit MeshArchive(MeshState present = {});

    //- The number under which a state is found again
    std::int64_t add(const MeshState& mesh);

    //- Arrays share memory with the meshes as far as they can
    StateTree save() const;

    //- Parts that are named, and parts that equal those of present, are those of present.
    //  Throws Error for a damaged archive.
    static MeshArchive load(const StateTree& state, const MeshState& present);

    //- Throws Error if there is none of that number
    const MeshState& at(std::int64_t number) const;

private:

    MeshState present_;
    std::vector<MeshState> states_;
};

}
