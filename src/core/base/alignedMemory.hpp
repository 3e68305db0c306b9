// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace inSitu
{

//- Uninitialised memory aligned to at least 64 bytes. Pieces of 4 MiB or more lie on huge pages
//  if the system has them: the first touch of a small page costs more than filling it.
//  Throws std::bad_alloc.
void* takeMemory(std::size_t bytes);

void giveMemory(void* memory);

}
