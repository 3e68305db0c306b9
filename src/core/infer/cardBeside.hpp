// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/ModelCard.hpp"

#include <string>

namespace inSitu
{

//- <path>.card.json: where the card of the model at path lies if it has none inside
std::string cardPathOf(const std::string& path);

//- Read it. Throws Error, naming both files, if it is not there, and as ModelCard::parse() does.
ModelCard cardBeside(const std::string& path);

}
