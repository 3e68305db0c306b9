// SPDX-License-Identifier: GPL-3.0-or-later
//
// surrogates [CASES [SEED]]: damages files of networks and loads them as a meshPredictor does, and as
// first weights: a file as it is on the disk, so that its checksums tell; and members of artifact and
// .mdlus that do not reach LibTorch's own reader, in archives that are put right again. Loading may
// succeed or throw inSitu::Error; anything else is a fault, and CASE and SEED to see it again are said.
//
// With LIBTORCH as third argument the members that LibTorch reads itself are damaged too. It is not
// made for that and may crash.

#include "Mutator.hpp"
#include "SurrogateCase.hpp"
#include "infer/Inspection.hpp"
#include "io/Archive.hpp"
#include "io/Disk.hpp"
#include "model/WeightsFile.hpp"

#include <caffe2/serialize/inline_container.h>

#include <cstdio>
#include <cstring>

namespace inSitu
{
namespace
{

//- The members of an archive of LibTorch, none of them compressed
ArchiveMembers plainMembers(const std::string& path)
{
    caffe2::serialize::PyTorchStreamReader reader(path);
    ArchiveMembers members;
    for (const std::string& name : reader.getAllRecords())
    {
        const auto [data, size] = reader.getRecord(name);
        members["archive/" + name] = std::string(static_cast<const char*>(data.get()), size);
    }
    return members;
}


struct Target
{
    std::string name;
    std::string good;
    std::function<std::string(const std::string&)> file;    //!< from what was damaged
    int accepted = 0;
    int refused = 0;
};


std::vector<Target> makeTargets(const TemporaryFolder& folder, bool withLibTorch)
{
    std::vector<Target> targets;
    const auto whole = [](const std::string& bytes) { return bytes; };
    for (const std::string file : {"model.pt", "model.mdlus"})
    {
        targets.push_back({file, folder.read(file), whole});
    }
    targets.push_back({"package", packageFor("cpu", "x86_64", ""), whole});

    const ArchiveMembers mdlus = readArchive(folder.read("model.mdlus"), "model.mdlus");
    for (const auto& [name, content] : mdlus)
    {
        targets.push_back({"model.mdlus:" + name, content,
            [mdlus, name = name](const std::string& damaged)
            {
                ArchiveMembers members = mdlus;
                members[name] = damaged;
                return zipArchive(members);
            }});
    }

    const ArchiveMembers script = plainMembers(folder / "model.pt");
    for (const auto& [name, content] : script)
    {
        if (withLibTorch || name.find("card.json") != std::string::npos)
        {
            targets.push_back({"model.pt:" + name, content,
                [script, name = name](const std::string& damaged)
                {
                    ArchiveMembers members = script;
                    members[name] = damaged;
                    return zipArchive(members);
                }});
        }
    }
    return targets;
}


//- What is wrong with how a file was taken; empty: nothing
std::string faultOf(Target& target, const std::function<void()>& read)
{
    try
    {
        read();
        ++target.accepted;
    }
    catch (const Error& fault)
    {
        ++target.refused;
        if (std::strlen(fault.what()) < 10 || std::strlen(fault.what()) > 20000)
        {
            return std::string("message without use: ") + fault.what();
        }
    }
    catch (const std::exception& fault)
    {
        return std::string("exception of another kind: ") + fault.what();
    }
    return {};
}


int run(int nCases, std::uint64_t seed, bool withLibTorch)
{
    const TemporaryFolder folder;
    SurrogateCase my;
    my.write(folder);

    ModelCard foreign = my.card;
    foreign.configuration = "{}";
    folder.write("damaged.card.json", foreign.json());

    std::vector<Target> targets = makeTargets(folder, withLibTorch);
    std::vector<std::string> donors;
    for (const Target& target : targets)
    {
        donors.push_back(target.good);
    }
    for (int i = 0; i < nCases; ++i)
    {
        Mutator mutator(seed + static_cast<std::uint64_t>(i), donors);
        Target& target = targets[static_cast<std::size_t>(i) % targets.size()];
        const std::string path =
            folder.write("damaged", target.file(mutator.damaged(target.good)));
        if (withLibTorch)
        {
            std::printf("%d %s\n", i, target.name.c_str());
            std::fflush(stdout);
        }
        std::string fault = faultOf(target, [&] { my.load(path); });
        if (fault.empty())
        {
            fault = faultOf(target, [&] { readWeights(path); });
        }
        if (!fault.empty())
        {
            std::printf("%s, case %d, seed %llu: %s\n", target.name.c_str(), i,
                static_cast<unsigned long long>(seed), fault.c_str());
            return 1;
        }
        inspect(path);
    }
    for (const Target& target : targets)
    {
        std::printf("%-50s %9d refused %9d accepted\n", target.name.c_str(), target.refused,
            target.accepted);
    }
    return 0;
}

}
}


int main(int argc, char** argv)
{
    const int nCases = argc > 1 ? std::atoi(argv[1]) : 3000;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    return inSitu::run(nCases, seed, argc > 3 && std::string(argv[3]) == "LIBTORCH");
}
