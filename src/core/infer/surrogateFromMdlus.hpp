// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "infer/Surrogate.hpp"
#include "io/ModelFile.hpp"

namespace inSitu
{

//- From a .mdlus, see loadSurrogate()
std::unique_ptr<Surrogate> surrogateFromMdlus(const ModelFile& file, ThreadPool& pool,
    const CountBuild& count);

}
