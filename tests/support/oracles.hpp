// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace inSitu
{

//- Folder of reference values of other programs; a clone of the repository alone has none
inline std::string oracleFolder()
{
    const char* const folder = std::getenv("INSITU_ORACLES");
    return folder ? folder : INSITU_ORACLES_DEFAULT;
}


inline std::string oracle(const std::string& name)
{
    return oracleFolder() + '/' + name;
}

}

//- Go on with a test only where that folder has the file
#define INSITU_NEEDS_ORACLE(name) \
    if (!std::filesystem::exists(inSitu::oracle(name))) \
    { \
        GTEST_SKIP() << "no " << inSitu::oracle(name); \
    }
