// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/StateTree.hpp"

#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

// A checkpoint is one folder for all ranks: state.h5 by the master, rank<r>.h5 and replay<r>.h5 by
// rank r, and manifest.json, which names every file with size and CRC-32, and itself, and is
// written last. A folder is good if its manifest says so.

//- What one rank saves
struct RankPart
{
    StateTree values;
    std::optional<StateTree> replay;    //!< may have been left out
};


//- What one rank reads: on one rank all of it
struct Checkpoint
{
    StateTree state;                    //!< the same for all ranks
    std::vector<RankPart> parts;        //!< those of rank r of n are the r-th, (r + n)-th, …
    int nRanks = 0;                     //!< that wrote it; 0: an earlier version
    bool hasReplay = false;
};


// The master prepares "<folder>.tmp<pid>", into which all ranks write; it syncs it, sets an old
// folder aside as "<folder>.old", renames the new one to folder and removes the old one: at any
// moment one good copy stands under folder or folder.old, and readers look at both. What killed
// writers left is put in order by the next writer, or by tidyCheckpoint.

//- Write, also over an older checkpoint; parent folders are made. state is that of the master.
//  Free space is checked before. The old folder survives every failure. Throws AgreedError (no
//  space, unwritable) naming the rank. Returns the bytes written by all. Collective.
std::size_t writeCheckpoint(const std::string& folder, const StateTree& state,
    const RankPart& part, const Comm& comm = SerialComm());


//- The master looks where it is, each rank reads the state and its parts. Throws AgreedError naming
//  rank, file and fault: missing, truncated, checksum, format version. Collective.
Checkpoint readCheckpoint(const std::string& folder, const Comm& comm = SerialComm());

//- The state alone. Throws Error as above.
StateTree readState(const std::string& folder);

//- Drop the replay parts of a checkpoint, leaving it as good as it was. Throws Error, also if a
//  file is missing or truncated.
void dropReplay(const std::string& folder);

//- Copy a checkpoint (hard links where possible), atomically as in writeCheckpoint. Throws Error,
//  also if a file is missing or truncated; an older one at `to` then stays.
void copyCheckpoint(const std::string& from, const std::string& to);

//- True if the manifest exists and all files have the stated size and checksum
bool isGoodCheckpoint(const std::string& folder);

//- Put in order what a killed writer left beside folder: its temporary folder is removed, a
//  checkpoint set aside takes its place again unless a good one stands there
void tidyCheckpoint(const std::string& folder);

}
