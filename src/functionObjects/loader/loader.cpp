// SPDX-License-Identifier: GPL-3.0-or-later

// What `libs (inSituFunctionObjects);` or `libs (inSituFvOptions);` opens. OpenFOAM's classes
// change their layout with its version, scalar and label; a library built for another one crashes far from
// the cause. So this file names no OpenFOAM type: it asks the running process what it is, and opens
// the implementation from its own folder only if that is what the build was for.

#include <dlfcn.h>

#include <cstdio>
#include <string>

namespace
{

constexpr int builtApi = INSITU_FOAM_API;
const char* const implementation = INSITU_IMPLEMENTATION;

void say(const std::string& text)
{
    std::fprintf(stderr, "\n--> inSituFoam: %s\n\n", text.c_str());
    std::fflush(stderr);
}

std::string describe(int api, const std::string& arch)
{
    return "OpenFOAM v" + std::to_string(api) + " (" + arch + ")";
}

//- What OpenFOAM's buildArch holds behind the byte order in the build that this one is for
std::string builtArch()
{
    std::string arch =
        "label=" + std::to_string(INSITU_FOAM_LABEL)
      + ";scalar=" + std::to_string(INSITU_FOAM_SCALAR);

    if (INSITU_FOAM_SOLVE_SCALAR != INSITU_FOAM_SCALAR)
    {
        arch += ";solveScalar=" + std::to_string(INSITU_FOAM_SOLVE_SCALAR);
    }
    return arch;
}

//- The part of the running OpenFOAM's buildArch behind the byte order, e.g. "label=32;scalar=64"
std::string runningArch()
{
    const auto* arch = static_cast<const std::string*>(
        dlsym(RTLD_DEFAULT, "_ZN4Foam11foamVersion9buildArchB5cxx11E"));

    if (!arch)
    {
        return {};
    }

    const auto label = arch->find("label=");
    return label == std::string::npos ? *arch : arch->substr(label);
}

//- Empty if the running process is what this library was built for, else the reason
std::string mismatch()
{
    const auto* api =
        static_cast<const int*>(dlsym(RTLD_DEFAULT, "_ZN4Foam11foamVersion3apiE"));

    if (!api)
    {
        return "the process that loads this library is not OpenFOAM v1912 or newer.";
    }

    const std::string arch = runningArch();

    if (*api == builtApi && arch == builtArch())
    {
        return {};
    }

    return
        "this library was built for " + describe(builtApi, builtArch())
      + ", but the program that loads it is " + describe(*api, arch) + ".";
}

std::string folderOfThisLibrary()
{
    Dl_info info;
    if (!dladdr(reinterpret_cast<const void*>(&folderOfThisLibrary), &info) || !info.dli_fname)
    {
        return {};
    }

    const std::string path(info.dli_fname);
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

struct Loader
{
    Loader()
    {
        const std::string reason = mismatch();

        if (!reason.empty())
        {
            say
            (
                reason + "\n    What it brings is not available in this run.\n"
                "    Remedy: run inSituFoam's Allwmake in the environment of that program."
            );
            return;
        }

        const std::string path = folderOfThisLibrary() + implementation;

        // Global, because OpenFOAM's own tables and our core must be one for all libraries
        if (!dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE))
        {
            const char* error = dlerror();
            say
            (
                std::string("cannot open the implementation: ") + (error ? error : path.c_str())
              + "\n    What it brings is not available in this run.\n"
                "    Remedy: run inSituFoam's Allwmake again."
            );
        }
    }
};

const Loader loader;

} // namespace
