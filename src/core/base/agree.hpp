// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <string>

namespace inSitu
{

//- Decisions that all ranks take alike. Collective.

//- True on all ranks if it is on one
bool anyRank(const Comm& comm, bool here);

//- Largest and least of a number
double largestOf(const Comm& comm, double here);
double leastOf(const Comm& comm, double here);

//- The text of the first rank that has one, "rank 2: …" where there are several; empty if none
//  has. One sum, and more only if there is a text.
std::string firstText(const Comm& comm, const std::string& here);

//- The master's text
std::string textOfMaster(const Comm& comm, const std::string& here);

}
