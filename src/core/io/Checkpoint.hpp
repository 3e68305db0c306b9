// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"

#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- A checkpoint is a folder with one HDF5 file per part and manifest.json, which names
//  every file with size and CRC-32 and is written last. A folder is good if its manifest
//  says so.
struct Checkpoint
{
    StateTree state;                    //!< part "state"
    std::optional<StateTree> replay;    //!< part "replay", may have been left out
};

//- Write to folder + ".tmp<pid>", sync, rename over folder. Free space is checked before.
//  The old folder survives every failure. Throws Error (no space, unwritable).
//  Returns the bytes written.
std::size_t writeCheckpoint(const std::string& folder, const Checkpoint& checkpoint);

//- Throws Error naming file and fault: missing, truncated, checksum, format version
Checkpoint readCheckpoint(const std::string& folder);

//- Drop the replay part of a good checkpoint, leaving a good checkpoint
void dropReplay(const std::string& folder);

//- Copy a good checkpoint (hard links where possible), atomically as in writeCheckpoint
void copyCheckpoint(const std::string& from, const std::string& to);

//- True if the manifest exists and all files have the stated size and checksum
bool isGoodCheckpoint(const std::string& folder);

}
