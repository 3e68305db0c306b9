// SPDX-License-Identifier: GPL-3.0-or-later

#include "infer/Inspection.hpp"

#include <cstdio>
#include <exception>
#include <string>

namespace
{

const char* const usage =
    "Usage: inSituInspect [-json] [-tensors] FILE\n"
    "\n"
    "Tells what a file of a network holds, and whether it is whole: card, scales, training record,\n"
    "versions, number of parameters, checks. FILE: an artifact (model.pt) or another TorchScript\n"
    "module, a .mdlus, a .pt2, a file of torch.save, graph.h5, replay0.h5, or the folder of a\n"
    "checkpoint (<time>/uniform/<name>). What it is shows in its content, not in its name.\n"
    "\n"
    "  -json      one line of JSON, tensors included\n"
    "  -tensors   every tensor with its shape\n"
    "  -help      this text\n"
    "\n"
    "Exit code: 0 good, 1 damaged or not known, 2 wrong use.\n";

}


int main(int argc, char** argv)
{
    bool json = false;
    bool tensors = false;
    std::string path;
    for (int i = 1; i < argc; ++i)
    {
        const std::string word = argv[i];
        const std::string option = word.compare(0, 2, "--") == 0 ? word.substr(1) : word;
        if (option == "-help" || option == "-h")
        {
            std::fputs(usage, stdout);
            return 0;
        }
        json = json || option == "-json";
        tensors = tensors || option == "-tensors";
        if (option != "-json" && option != "-tensors")
        {
            if (!path.empty() || option[0] == '-')
            {
                std::fprintf(stderr, "inSituInspect: '%s' is not expected\n%s", argv[i], usage);
                return 2;
            }
            path = word;
        }
    }
    if (path.empty())
    {
        std::fputs(usage, stderr);
        return 2;
    }

    try
    {
        const inSitu::Inspection inspection = inSitu::inspect(path);
        std::fputs((json ? inspection.json() + '\n' : inspection.text(tensors)).c_str(), stdout);
        for (const inSitu::Inspection::Check& check : inspection.checks)
        {
            if (!check.fault.empty())
            {
                std::fprintf(stderr, "inSituInspect: %s: %s\n", check.what.c_str(),
                    check.fault.c_str());
            }
        }
        return inspection.good() ? 0 : 1;
    }
    catch (const std::exception& fault)
    {
        std::fprintf(stderr, "inSituInspect: %s\n", fault.what());
        return 1;
    }
}
