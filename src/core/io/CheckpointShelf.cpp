// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/CheckpointShelf.hpp"

#include "base/agree.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace fs = std::filesystem;

namespace inSitu
{
namespace
{

// Sub-folders whose name is a number
std::vector<CheckpointPlace> timeFolders(const std::string& folder)
{
    std::vector<CheckpointPlace> places;
    std::error_code fault;
    for (const auto& entry : fs::directory_iterator(folder, fault))
    {
        const std::string name = entry.path().filename().string();
        char* end = nullptr;
        const double time = std::strtod(name.c_str(), &end);
        if (end != name.c_str() && *end == '\0')
        {
            places.push_back({time, entry.path().string()});
        }
    }
    return places;
}


// Checkpoints of which a killed writer left something: "<name>.tmp…", "<name>.old"
std::set<std::string> unfinished(const std::string& folder)
{
    std::set<std::string> checkpoints;
    std::error_code fault;
    for (const auto& entry : fs::directory_iterator(folder, fault))
    {
        const std::string path = entry.path().string();
        const std::string suffix = entry.path().extension().string();
        if (suffix == ".old" || suffix.compare(0, 4, ".tmp") == 0)
        {
            checkpoints.insert(path.substr(0, path.size() - suffix.size()));
        }
    }
    return checkpoints;
}

}


CheckpointShelf::CheckpointShelf(std::string shelf)
:
    shelf_(std::move(shelf))
{}


std::size_t CheckpointShelf::add
(
    const CheckpointPlace& place,
    const std::string& timeName,
    const StateTree& state,
    const RankPart& part,
    const Comm& comm
)
{
    const std::size_t bytes = writeCheckpoint(place.folder, state, part, comm);
    together(comm, [&]
    {
        if (comm.isMaster())
        {
            keep(place, timeName);
        }
    });
    return bytes;
}


void CheckpointShelf::keep(const CheckpointPlace& place, const std::string& timeName)
{
    std::error_code fault;
    fs::create_directories(shelf_, fault);
    copyCheckpoint(place.folder, shelf_ + '/' + timeName);
    prune();

    complete_.erase(std::remove(complete_.begin(), complete_.end(), place.folder), complete_.end());
    complete_.push_back(place.folder);
    while (complete_.size() > nKept)
    {
        const std::string old = complete_.front();
        complete_.erase(complete_.begin());
        trim(old);
    }
}


std::vector<CheckpointPlace> CheckpointShelf::tidy(std::vector<CheckpointPlace> places) const
{
    for (const std::string& folder : unfinished(shelf_))
    {
        tidyCheckpoint(folder);
    }
    for (const CheckpointPlace& place : places)
    {
        tidyCheckpoint(place.folder);
    }
    places.erase
    (
        std::remove_if(places.begin(), places.end(), [](const CheckpointPlace& place)
        {
            return !fs::exists(place.folder);
        }),
        places.end()
    );
    return places;
}


std::vector<CheckpointPlace> CheckpointShelf::candidates
(
    std::vector<CheckpointPlace> places,
    double latest
) const
{
    for (CheckpointPlace& place : timeFolders(shelf_))
    {
        places.push_back(std::move(place));
    }
    places.erase
    (
        std::remove_if(places.begin(), places.end(), [&](const CheckpointPlace& place)
        {
            return place.time > latest;
        }),
        places.end()
    );
    std::stable_sort(places.begin(), places.end(),
        [](const CheckpointPlace& a, const CheckpointPlace& b)
        {
            return a.time > b.time;
        });
    return places;
}


void CheckpointShelf::adopt(const std::vector<CheckpointPlace>& places)
{
    for (auto place = places.rbegin(); place != places.rend(); ++place)
    {
        complete_.push_back(place->folder);
    }
}


void CheckpointShelf::trim(const std::string& folder)
{
    try
    {
        if (fs::exists(folder))
        {
            dropReplay(folder);
        }
    }
    catch (const Error&)
    {
        // Damaged, or trimmed by somebody else: a resume says so if it is ever asked for,
        // and the new checkpoint does not depend on it
    }
}


void CheckpointShelf::prune() const
{
    // The newest by the clock, not by their time: after a restart from an earlier time the
    // checkpoints of the abandoned future are the old ones
    std::vector<std::pair<fs::file_time_type, std::string>> kept;
    std::error_code fault;
    for (const CheckpointPlace& place : timeFolders(shelf_))
    {
        kept.emplace_back(fs::last_write_time(place.folder, fault), place.folder);
    }
    std::sort(kept.rbegin(), kept.rend());
    for (std::size_t i = nKept; i < kept.size(); ++i)
    {
        fs::remove_all(kept[i].second, fault);
    }
}

}
