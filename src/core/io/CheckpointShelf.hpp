// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/Checkpoint.hpp"

#include <string>
#include <vector>

namespace inSitu
{

//- A folder that may hold the checkpoint of a time
struct CheckpointPlace
{
    double time = 0;        //!< s
    std::string folder;
};


//- Where the checkpoints of one object are kept: each in the folder of its own time, and
//  copies of the two newest on a shelf that no purging of time folders reaches. The replay
//  parts are kept in the two newest only. The shelf is the master's work; other ranks call add()
//  only.
class CheckpointShelf
{
public:

    explicit CheckpointShelf(std::string shelf);

    //- Write to place, as writeCheckpoint(), and copy to the shelf as timeName. Throws AgreedError;
    //  earlier checkpoints are untouched then. Returns the bytes written by all. Collective.
    std::size_t add(const CheckpointPlace& place, const std::string& timeName,
        const StateTree& state, const RankPart& part, const Comm& comm = SerialComm());

    //- Put in order what killed writers left at these places and on the shelf; returns those
    //  of the places that have a checkpoint
    std::vector<CheckpointPlace> tidy(std::vector<CheckpointPlace> places) const;

    //- The places given and those on the shelf, none later than latest (included), newest
    //  first, those given before the shelf's at equal times
    std::vector<CheckpointPlace> candidates(std::vector<CheckpointPlace> places,
        double latest) const;

    //- Places that earlier runs wrote, newest first, those of the shelf left out: the older
    //  ones lose their replay part as new ones are added
    void adopt(const std::vector<CheckpointPlace>& places);

private:

    static constexpr std::size_t nKept = 2;

    void keep(const CheckpointPlace& place, const std::string& timeName);
    static void trim(const std::string& folder);
    void prune() const;

    std::string shelf_;
    std::vector<std::string> complete_;     // folders that still have replay parts, oldest first
};
}
