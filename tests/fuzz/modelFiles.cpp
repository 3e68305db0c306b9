// SPDX-License-Identifier: GPL-3.0-or-later
//
// modelFiles [CASES [SEED]]: damages good model files in many ways, at every layer (archive,
// pickle, JSON; the layers above are put right again), and reads them. A reader may give a result
// or throw inSitu::Error with a message; anything else, a slow case, or one that takes much memory
// is a fault, and CASE and SEED to see it again are said.

#include "Mutator.hpp"
#include "base/Error.hpp"
#include "io/Archive.hpp"
#include "io/Disk.hpp"
#include "io/MdlusContent.hpp"
#include "io/Pickle.hpp"
#include "io/TorchFile.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>

#include <malloc.h>

namespace
{

std::size_t live = 0;
std::size_t peak = 0;

}


// Not inlined, since GCC would take malloc and free for a mismatch
[[gnu::noinline]] void* operator new(std::size_t size)
{
    void* const memory = std::malloc(size);
    if (!memory)
    {
        throw std::bad_alloc();
    }
    live += malloc_usable_size(memory);
    peak = std::max(peak, live);
    return memory;
}


[[gnu::noinline]] void operator delete(void* memory) noexcept
{
    live -= memory ? malloc_usable_size(memory) : 0;
    std::free(memory);
}


[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept
{
    operator delete(memory);
}


namespace inSitu
{
namespace
{

constexpr double maximumSeconds = 2;
constexpr std::size_t maximumMemory = std::size_t(64) << 20;

const std::string folder = INSITU_TOP "/tests/support/physicsNemo/";


//- Something that can be damaged and read
struct Target
{
    std::string name;
    std::string good;
    std::function<void(const std::string&)> read;
    int accepted = 0;
    int refused = 0;
};


//- The archive with another content of one member
std::string rewrapped(ArchiveMembers members, const std::string& name, const std::string& content)
{
    members[name] = content;
    return zipArchive(members);
}


std::vector<Target> makeTargets()
{
    std::vector<Target> targets;
    const auto add = [&](const std::string& name, const std::string& good, const auto& read)
    {
        targets.push_back({name, good, read});
        read(good);
    };

    for (const std::string file : {"concat.mdlus", "legacy.mdlus"})
    {
        const std::string bytes = readFile(folder + file);
        add(file, bytes, [](const std::string& damaged) { parseMdlus(damaged, "m.mdlus"); });

        const ArchiveMembers members = readArchive(bytes, file);
        for (const auto& [name, content] : members)
        {
            add(file + ':' + name, content, [members = members, name = name](const auto& damaged)
            {
                parseMdlus(rewrapped(members, name, damaged), "m.mdlus");
            });
        }

        const ArchiveMembers records = readArchive(members.at("model.pt"), file);
        const std::string pickle = "archive/data.pkl";
        add(file + ":model.pt:data.pkl", records.at(pickle), [=](const std::string& damaged)
        {
            parseMdlus(rewrapped(members, "model.pt", rewrapped(records, pickle, damaged)),
                "m.mdlus");
        });
    }

    for (const std::string stem : {"types", "protocol4"})
    {
        const std::string bytes = readFile(folder + stem + ".pt");
        add(stem, bytes, [](const std::string& damaged) { readTorchState(damaged, "t.pt"); });

        const ArchiveMembers records = readArchive(bytes, stem);
        const std::string pickle = stem + "/data.pkl";
        add(stem + ":data.pkl", records.at(pickle), [=](const std::string& damaged)
        {
            readTorchState(rewrapped(records, pickle, damaged), "t.pt");
        });
    }
    return targets;
}


//- What is wrong with how a damaged file was read; empty: nothing
std::string faultOf(Target& target, const std::string& damaged)
{
    const auto start = std::chrono::steady_clock::now();
    const std::size_t before = live;
    peak = live;
    try
    {
        target.read(damaged);
        ++target.accepted;
    }
    catch (const Error& fault)
    {
        ++target.refused;
        if (std::strlen(fault.what()) < 10 || std::strlen(fault.what()) > 4000)
        {
            return std::string("message without use: ") + fault.what();
        }
    }
    catch (const std::exception& fault)
    {
        return std::string("exception of another kind: ") + fault.what();
    }

    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (seconds.count() > maximumSeconds)
    {
        return std::to_string(seconds.count()) + " s";
    }
    if (peak - before > maximumMemory)
    {
        return std::to_string(peak - before) + " bytes of memory";
    }
    return {};
}


int run(int nCases, std::uint64_t seed)
{
    std::vector<Target> targets = makeTargets();
    std::vector<std::string> donors;
    for (const Target& target : targets)
    {
        donors.push_back(target.good);
    }

    std::size_t largest = 0;
    for (int i = 0; i < nCases; ++i)
    {
        Mutator mutator(seed + static_cast<std::uint64_t>(i), donors);
        Target& target = targets[static_cast<std::size_t>(i) % targets.size()];
        const std::string fault = faultOf(target, mutator.damaged(target.good));
        largest = std::max(largest, peak);
        if (!fault.empty())
        {
            std::printf("%s, case %d, seed %llu: %s\n", target.name.c_str(), i,
                static_cast<unsigned long long>(seed), fault.c_str());
            return 1;
        }
    }

    std::printf("%-32s %9s %9s\n", "target", "refused", "accepted");
    bool bothEverywhere = true;
    for (const Target& target : targets)
    {
        std::printf("%-32s %9d %9d\n", target.name.c_str(), target.refused, target.accepted);
        bothEverywhere = bothEverywhere && target.refused > 0 && target.accepted > 0;
    }
    std::printf("%d files, no fault, at most %zu bytes of memory\n", nCases, largest);

    // Damage that is never noticed, or always, would mean that little was read
    return nCases < 1000 || bothEverywhere ? 0 : 1;
}

}
}


int main(int argc, char** argv)
{
    const int nCases = argc > 1 ? std::atoi(argv[1]) : 10000;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    return inSitu::run(nCases, seed);
}
