// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace inSitu
{

//- Words of `features` that are columns of a sample, the same number in all rows. deltaT: s from
//  the input to its target; with a horizon of no steps the solver's step.
const std::vector<std::string>& sampleFeatures();

//- Words of `features` that are columns of the mesh, a number for each row. wallDistance, m: to
//  the nearest wall, 0 on walls. cellVolume, m3: of the cell, on boundary faces that of theirs.
const std::vector<std::string>& meshFeatures();

bool contains(const std::vector<std::string>& words, const std::string& word);

//- Those of words that are known, in the order of words
std::vector<std::string> chosen(const std::vector<std::string>& words,
    const std::vector<std::string>& known);

}
