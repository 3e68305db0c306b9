// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/ModelCard.hpp"
#include "sample/TrainingCase.hpp"

#include <string>

namespace inSitu
{

//- Compare a card with the case that it is used in: names and types of fields, columns,
//  dimensions (where the card states them), columns of nodes and edges. theCase.fields are those of
//  the card: inputs, then targets. Throws Error that names every difference.
void requireCase(const ModelCard& card, const TrainingCase& theCase, const CaseMesh& mesh);

//- A file that replaces another must expect and give the same. Throws Error naming every
//  difference.
void requireSameColumns(const ModelCard& before, const ModelCard& now, const std::string& path);

}
