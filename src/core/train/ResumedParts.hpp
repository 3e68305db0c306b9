// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/Checkpoint.hpp"
#include "sample/SampleStream.hpp"
#include "sample/SavedRows.hpp"

#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- What the learning loop of this rank loads of the parts of a checkpoint
struct ResumedParts
{
    StateTree part;                     //!< as LearningLoop::savePart(), without what is lost
    std::optional<StateTree> replay;

    std::string note;                   //!< where values have gone; empty: they stay
    std::vector<std::string> losses;    //!< sentences

    //- The rows may be those of the same ranks, or values are brought to them from others; what
    //  nobody can bring is lost. continuous: inputs may go on waiting. Collective. Throws
    //  AgreedError if a part is damaged or does not fit the layout.
    static ResumedParts of(const Checkpoint& checkpoint, const SavedRows& rows,
        const SampleStream::Layout& layout, const MeshState& mesh, bool continuous,
        const Comm& comm);
};

}
