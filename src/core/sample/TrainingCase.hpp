// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "buffer/Gather.hpp"
#include "sample/Sample.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace inSitu
{

//- What the case is made of, known at the first execution
struct TrainingCase
{
    MeshState mesh;
    std::vector<FieldSpec> fields;      //!< all that take part; views come in this order
    std::vector<int> inputs;            //!< indices into fields
    std::vector<int> targets;

    //- [nCells] 1 inside the cellZone, 0 outside; empty: all cells
    std::vector<double> cellMask;

    //- What must be equal for a checkpoint to fit: a hash of owner, neighbour and patches,
    //  and a text for messages. Points are compared by tolerance.
    std::string topologyFingerprint;
    std::string topologyText;           //!< "2480 cells, 4836 internal faces, patches …"

    //- Where a row of the graph lies, for messages: "cell 17", "patch inlet face 3"
    std::function<std::string(std::int64_t row)> placeOfRow;

    //- Names of the columns of MeshState::staticFeatures
    std::vector<std::string> staticColumns;

    std::vector<std::string> versions;  //!< "OpenFOAM v1912 DP Int32", …
    std::string outputFolder;           //!< postProcessing/<name>/<startTime>
    std::string stableFolder;           //!< postProcessing/<name>
    double startTime = 0;               //!< s
    double timeTolerance = 1e-9;        //!< s; names of time folders are rounded
    bool exactRestart = true;           //!< the solver restarts bit for bit (binary fields)
};


//- Names of the columns of the chosen fields, in their order
std::vector<std::string> columnNames(const std::vector<FieldSpec>& fields,
    const std::vector<int>& chosen);

//- Names of the chosen fields
std::vector<std::string> fieldNames(const std::vector<FieldSpec>& fields,
    const std::vector<int>& chosen);

//- For each of their columns, the position of its field within chosen
std::vector<int> fieldOfColumn(const std::vector<FieldSpec>& fields,
    const std::vector<int>& chosen);

}
