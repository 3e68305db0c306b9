// SPDX-License-Identifier: GPL-3.0-or-later

// A program that is not OpenFOAM: opens and closes the library that its argument names

#include <dlfcn.h>

#include <cstdio>

int main(int argc, char* argv[])
{
    void* library = argc == 2 ? dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL) : nullptr;

    if (!library)
    {
        std::fprintf(stderr, "not opened\n");
        return 1;
    }

    dlclose(library);
    std::puts("survived");
    return 0;
}
