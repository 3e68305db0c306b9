// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"

#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- A checkpoint is a folder with one HDF5 file per part and manifest.json, which names
//  every file with size and CRC-32, and itself, and is written last. A folder is good if
//  its manifest says so.
struct Checkpoint
{
    StateTree state;                    //!< part "state"
    std::optional<StateTree> replay;    //!< part "replay", may have been left out
};

// A writer prepares "<folder>.tmp<pid>", syncs it, sets an old folder aside as
// "<folder>.old", renames the new one to folder and removes the old one: at any moment one
// good copy stands under folder or folder.old, and readers look at both. What killed writers
// left is put in order by the next writer, or by tidyCheckpoint.

//- Write, also over an older checkpoint; parent folders are made. Free space is checked
//  before. The old folder survives every failure. Throws Error (no space, unwritable).
//  Returns the bytes written.
std::size_t writeCheckpoint(const std::string& folder, const Checkpoint& checkpoint);

//- Throws Error naming file and fault: missing, truncated, checksum, format version
Checkpoint readCheckpoint(const std::string& folder);

//- Drop the replay part of a good checkpoint, leaving a good checkpoint. Throws Error.
void dropReplay(const std::string& folder);

//- Copy a good checkpoint (hard links where possible), atomically as in writeCheckpoint.
//  Throws Error, also if it is not good; an older one at `to` then stays.
void copyCheckpoint(const std::string& from, const std::string& to);

//- True if the manifest exists and all files have the stated size and checksum
bool isGoodCheckpoint(const std::string& folder);

//- Put in order what a killed writer left beside folder: its temporary folder is removed, a
//  checkpoint set aside takes its place again unless a good one stands there
void tidyCheckpoint(const std::string& folder);

}
