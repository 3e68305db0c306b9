// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/TrainingCase.hpp"

namespace inSitu
{

std::vector<std::string> columnNames
(
    const std::vector<FieldSpec>& fields,
    const std::vector<int>& chosen
)
{
    std::vector<std::string> names;
    for (const int field : chosen)
    {
        const std::vector<std::string>& columns = fields[field].columnNames;
        names.insert(names.end(), columns.begin(), columns.end());
    }
    return names;
}


std::vector<std::string> edgeColumnNames(const TrainingCase& theCase, const CaseMesh& mesh)
{
    std::vector<std::string> names = mesh.state.geometry->edgeFeatureNames();
    const std::vector<std::string> inputs = columnNames(theCase.fields, theCase.edgeInputs);
    names.insert(names.end(), inputs.begin(), inputs.end());
    return names;
}


std::vector<std::string> fieldNames
(
    const std::vector<FieldSpec>& fields,
    const std::vector<int>& chosen
)
{
    std::vector<std::string> names;
    for (const int field : chosen)
    {
        names.push_back(fields[field].name);
    }
    return names;
}


std::vector<int> fieldOfColumn
(
    const std::vector<FieldSpec>& fields,
    const std::vector<int>& chosen
)
{
    std::vector<int> result;
    for (std::size_t i = 0; i < chosen.size(); ++i)
    {
        result.insert(result.end(), fields[chosen[i]].nColumns(), static_cast<int>(i));
    }
    return result;
}

}
