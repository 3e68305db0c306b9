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

    //- Arrays share memory with the meshes as far as they can. known: meshes that are saved
    //  elsewhere; what these share with the ones of the archive is noted.
    StateTree save(const std::vector<MeshState>& known = {}) const;

    //- Parts that are named are those of present. known: the same meshes as for save(), as they
    //  are now; what was shared with them, and still equals it, is shared again. Throws Error for a
    //  damaged archive.
    static MeshArchive load(const StateTree& state, const MeshState& present,
        const std::vector<MeshState>& known = {});

    //- Of each state of a saved archive, which of the known meshes it is; -1: none
    static std::vector<std::int64_t> knownIn(const StateTree& state);

    //- Throws Error if there is none of that number
    const MeshState& at(std::int64_t number) const;

private:

    MeshState present_;
    std::vector<MeshState> states_;
};

}
