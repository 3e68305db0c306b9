// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/Checkpoint.hpp"

#include "base/agree.hpp"
#include "io/Disk.hpp"
#include "io/Hdf5File.hpp"
#include "io/Manifest.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>

namespace fs = std::filesystem;

namespace inSitu
{
namespace
{

const std::string stateFile = "state.h5";


std::string partFile(int rank)
{
    return "rank" + std::to_string(rank) + ".h5";
}


std::string replayFile(int rank)
{
    return "replay" + std::to_string(rank) + ".h5";
}


bool isReplayFile(const std::string& name)
{
    return name.compare(0, 6, "replay") == 0;
}


std::string asideOf(const std::string& folder)
{
    return folder + ".old";
}


//- The manifest of a folder in which all files are there; throws Error
Manifest manifestOf(const std::string& folder)
{
    Manifest manifest = Manifest::read(folder);
    manifest.requireSizes(folder);
    if (!manifest.has(stateFile))
    {
        throw Error("checkpoint '" + folder + "': " + stateFile + " is missing");
    }
    return manifest;
}


bool isGoodFolder(const std::string& folder)
{
    try
    {
        manifestOf(folder).verify(folder);
        return true;
    }
    catch (const std::exception&)
    {
        return false;
    }
}


//- Where the good copy stands: folder, or what a killed writer set aside
std::string goodPlace(const std::string& folder)
{
    const std::string aside = asideOf(folder);
    return fs::exists(aside) && !isGoodFolder(folder) && isGoodFolder(aside) ? aside : folder;
}


//- An empty folder where the new checkpoint is prepared
void makeTemporary(const std::string& folder)
{
    if (fs::exists(folder) && !fs::is_directory(folder))
    {
        throw Error(folder + " is a file of somebody else, where the checkpoint's folder should"
            " be; give the object another name, or move the file");
    }
    const std::string temporary = temporaryName(folder);
    fs::remove_all(temporary);
    fs::create_directory(temporary);
}


//- Complete the new folder, whose files are measured and synced, and let it take its place
void publish(const std::string& folder, const Manifest& manifest)
{
    const std::string temporary = temporaryName(folder);
    manifest.write(temporary);
    syncToDisk(temporary + '/' + Manifest::fileName);
    publishFolder(folder);
}


//- File system faults as Error, with the folder
template<class Action>
auto guarded(const std::string& folder, const Action& action)
{
    try
    {
        return action();
    }
    catch (const fs::filesystem_error& fault)
    {
        throw Error("checkpoint '" + folder + "': " + fault.what());
    }
}


void linkOrCopy(const std::string& from, const std::string& to)
{
    std::error_code refused;
    fs::create_hard_link(from, to, refused);
    if (refused)
    {
        fs::copy_file(from, to);
    }
}


//- A new checkpoint at folder from files of a good one
void publishLinks(const std::string& folder, const std::string& source, const Manifest& manifest)
{
    makeTemporary(folder);
    const std::string temporary = temporaryName(folder);
    const RemoveAtExit remover(temporary);
    for (const Manifest::File& file : manifest.files)
    {
        linkOrCopy(source + '/' + file.name, temporary + '/' + file.name);
        syncToDisk(temporary + '/' + file.name);
    }
    publish(folder, manifest);
}


void makeReady(const std::string& folder)
{
    fs::create_directories(parentOf(folder));
    tidyCheckpoint(folder);
}


//- One line for each file
Comm::Bytes packedFiles(const Manifest& manifest)
{
    std::string text;
    for (const Manifest::File& file : manifest.files)
    {
        text += file.name + ' ' + std::to_string(file.bytes) + ' ' + std::to_string(file.crc)
            + '\n';
    }
    return Comm::Bytes(text.begin(), text.end());
}


void addFiles(Manifest& manifest, const Comm::Bytes& bytes)
{
    std::istringstream text(std::string(bytes.begin(), bytes.end()));
    for (Manifest::File file; text >> file.name >> file.bytes >> file.crc;)
    {
        manifest.files.push_back(file);
    }
}

}


std::size_t writeCheckpoint
(
    const std::string& folder,
    const StateTree& state,
    const RankPart& part,
    const Comm& comm
)
{
    std::vector<std::pair<std::string, const StateTree*>> files;
    if (comm.isMaster())
    {
        files.emplace_back(stateFile, &state);
    }
    files.emplace_back(partFile(comm.rank()), &part.values);
    if (part.replay)
    {
        files.emplace_back(replayFile(comm.rank()), &*part.replay);
    }

    double bytes = 0;
    for (const auto& [name, tree] : files)
    {
        bytes += static_cast<double>(hdf5Bytes(*tree));
    }
    comm.sum(Span<double>(&bytes, 1));
    const std::string temporary = textOfMaster(comm, temporaryName(folder));

    // Each phase ends when all ranks have done their part of it, or none goes on
    const auto phase = [&](const std::function<void()>& body)
    {
        together(comm, [&] { guarded(folder, body); });
    };

    std::optional<RemoveAtExit> remover;
    phase([&]
    {
        if (comm.isMaster())
        {
            makeReady(folder);
            requireSpace(parentOf(folder), static_cast<std::size_t>(bytes));
            remover.emplace(temporary);
            makeTemporary(folder);
        }
    });

    Manifest mine;
    phase([&]
    {
        for (const auto& [name, tree] : files)
        {
            writeHdf5(temporary + '/' + name, *tree);
            mine.files.push_back(Manifest::measure(temporary, name));
            syncToDisk(temporary + '/' + name);
        }
    });

    const std::vector<Comm::Bytes> measured = comm.gather(packedFiles(mine));
    phase([&]
    {
        if (comm.isMaster())
        {
            Manifest all;
            for (const Comm::Bytes& ofRank : measured)
            {
                addFiles(all, ofRank);
            }
            publish(folder, all);
        }
    });

    bytes = static_cast<double>(mine.bytes());
    comm.sum(Span<double>(&bytes, 1));
    return static_cast<std::size_t>(bytes);
}


Checkpoint readCheckpoint(const std::string& folder, const Comm& comm)
{
    std::string place;
    together(comm, [&]
    {
        if (comm.isMaster())
        {
            place = goodPlace(folder);
            manifestOf(place);
        }
    });
    place = textOfMaster(comm, place);

    Checkpoint checkpoint;
    together(comm, [&]
    {
        const Manifest manifest = Manifest::read(place);
        const auto tree = [&](const std::string& name)
        {
            manifest.verify(place, name);
            return readHdf5(place + '/' + name);
        };
        while (manifest.has(partFile(checkpoint.nRanks)))
        {
            ++checkpoint.nRanks;
        }
        checkpoint.hasReplay = manifest.has(replayFile(0));
        checkpoint.state = tree(stateFile);
        for (int part = comm.rank(); part < checkpoint.nRanks; part += comm.size())
        {
            checkpoint.parts.push_back({tree(partFile(part)), std::nullopt});
            if (checkpoint.hasReplay)
            {
                checkpoint.parts.back().replay = tree(replayFile(part));
            }
        }
    });
    return checkpoint;
}


StateTree readState(const std::string& folder)
{
    const std::string place = goodPlace(folder);
    manifestOf(place).verify(place, stateFile);
    return readHdf5(place + '/' + stateFile);
}


void dropReplay(const std::string& folder)
{
    guarded(folder, [&]()
    {
        makeReady(folder);
        Manifest manifest = manifestOf(folder);
        const auto isReplay = [](const Manifest::File& file) { return isReplayFile(file.name); };
        const auto end = std::remove_if(manifest.files.begin(), manifest.files.end(), isReplay);
        if (end != manifest.files.end())
        {
            manifest.files.erase(end, manifest.files.end());
            publishLinks(folder, folder, manifest);
        }
    });
}


void copyCheckpoint(const std::string& from, const std::string& to)
{
    guarded(to, [&]()
    {
        const std::string source = goodPlace(from);
        const Manifest manifest = manifestOf(source);
        makeReady(to);
        publishLinks(to, source, manifest);
    });
}


bool isGoodCheckpoint(const std::string& folder)
{
    return isGoodFolder(goodPlace(folder));
}


void tidyCheckpoint(const std::string& folder)
{
    removeLeftovers(folder);

    const std::string aside = asideOf(folder);
    if (!fs::exists(aside))
    {
        return;
    }
    std::error_code ignored;
    if (!isGoodFolder(folder) && isGoodFolder(aside))
    {
        fs::remove_all(folder, ignored);
        fs::rename(aside, folder, ignored);
    }
    else
    {
        fs::remove_all(aside, ignored);
    }
}

}
