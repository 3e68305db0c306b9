// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/Checkpoint.hpp"

#include "base/Error.hpp"
#include "io/Disk.hpp"
#include "io/Hdf5File.hpp"
#include "io/Manifest.hpp"

#include <filesystem>
#include <functional>

namespace fs = std::filesystem;

namespace inSitu
{
namespace
{

const std::string stateFile = "state.h5";
const std::string replayFile = "replay.h5";


std::string asideOf(const std::string& folder)
{
    return folder + ".old";
}


//- The manifest of a folder, all files checked; throws Error
Manifest verified(const std::string& folder)
{
    Manifest manifest = Manifest::read(folder);
    manifest.verify(folder);
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
        verified(folder);
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
    return !isGoodFolder(folder) && isGoodFolder(asideOf(folder)) ? asideOf(folder) : folder;
}


//- Let fill write files into a new folder, add its manifest and publish it. Returns bytes.
std::size_t publish(const std::string& folder, const std::vector<std::string>& names,
    const std::function<void(const std::string& temporary)>& fill)
{
    if (fs::exists(folder) && !fs::is_directory(folder))
    {
        throw Error(folder + " is a file of somebody else, where the checkpoint's folder should"
            " be; give the object another name, or move the file");
    }
    const std::string temporary = temporaryName(folder);
    const RemoveAtExit remover(temporary);
    fs::remove_all(temporary);
    fs::create_directory(temporary);

    fill(temporary);

    const Manifest manifest = Manifest::of(temporary, names);
    for (const std::string& name : names)
    {
        syncToDisk(temporary + '/' + name);
    }
    manifest.write(temporary);
    syncToDisk(temporary + '/' + Manifest::fileName);

    publishFolder(folder);
    return manifest.bytes();
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


//- A new checkpoint at folder from the named files of a good one
void publishLinks(const std::string& folder, const std::string& source,
    const std::vector<std::string>& names)
{
    publish(folder, names, [&](const std::string& temporary)
    {
        for (const std::string& name : names)
        {
            linkOrCopy(source + '/' + name, temporary + '/' + name);
        }
    });
}


void makeReady(const std::string& folder)
{
    fs::create_directories(parentOf(folder));
    tidyCheckpoint(folder);
}

}


std::size_t writeCheckpoint(const std::string& folder, const Checkpoint& checkpoint)
{
    return guarded(folder, [&]()
    {
        makeReady(folder);
        requireSpace(parentOf(folder), hdf5Bytes(checkpoint.state)
            + (checkpoint.replay ? hdf5Bytes(*checkpoint.replay) : 0));

        std::vector<std::string> names{stateFile};
        if (checkpoint.replay)
        {
            names.push_back(replayFile);
        }
        return publish(folder, names, [&](const std::string& temporary)
        {
            writeHdf5(temporary + '/' + stateFile, checkpoint.state);
            if (checkpoint.replay)
            {
                writeHdf5(temporary + '/' + replayFile, *checkpoint.replay);
            }
        });
    });
}


Checkpoint readCheckpoint(const std::string& folder)
{
    const std::string place = goodPlace(folder);
    const Manifest manifest = verified(place);

    Checkpoint checkpoint;
    checkpoint.state = readHdf5(place + '/' + stateFile);
    if (manifest.has(replayFile))
    {
        checkpoint.replay = readHdf5(place + '/' + replayFile);
    }
    return checkpoint;
}


void dropReplay(const std::string& folder)
{
    guarded(folder, [&]()
    {
        makeReady(folder);
        if (verified(folder).has(replayFile))
        {
            publishLinks(folder, folder, {stateFile});
        }
    });
}


void copyCheckpoint(const std::string& from, const std::string& to)
{
    guarded(to, [&]()
    {
        const std::string source = goodPlace(from);
        std::vector<std::string> names;
        for (const Manifest::File& file : verified(source).files)
        {
            names.push_back(file.name);
        }
        makeReady(to);
        publishLinks(to, source, names);
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
