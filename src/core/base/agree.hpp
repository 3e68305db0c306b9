// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Error.hpp"

#include <functional>
#include <string>

namespace inSitu
{

//- Decisions that all ranks take alike. Collective.

//- True on all ranks if it is on one
bool anyRank(const Comm& comm, bool here);

//- Largest and least of a number
double largestOf(const Comm& comm, double here);
double leastOf(const Comm& comm, double here);

//- The text of the first rank that has one, "rank 2: …" where not all ranks say the same; empty if
//  none has. One sum, and more only if there is a text.
std::string firstText(const Comm& comm, const std::string& here);

//- The master's text
std::string textOfMaster(const Comm& comm, const std::string& here);


//- A failure that all ranks know of: each of them throws it at the same place
class AgreedError : public Error
{
public:

    using Error::Error;
};

//- Do what each rank does alone, and say what went wrong on the first one where something did,
//  as firstText(). Nothing collective may happen inside.
std::string faultOf(const Comm& comm, const std::function<void()>& action);

//- The same; throws the fault as AgreedError
void together(const Comm& comm, const std::function<void()>& action);

}
