// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "buffer/Gather.hpp"
#include "sample/Sample.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace inSitu
{

//- When an execution takes place
struct Instant
{
    double time = 0;                    //!< s
    std::int64_t timeIndex = 0;
    double deltaT = 0;                  //!< the solver's step up to this time, s
};


//- The mesh at one time
struct CaseMesh
{
    MeshState state;
    std::string text;                   //!< "2480 cells, 4836 internal faces, patches …"

    //- Where a row of the graph lies, for messages: "cell 17", "patch inlet face 3"
    std::function<std::string(std::int64_t row)> placeOfRow;
};


//- What the case is made of, known at the first execution
struct TrainingCase
{
    std::vector<FieldSpec> fields;      //!< all that take part; views come in this order
    std::vector<int> inputs;            //!< indices into fields
    std::vector<int> targets;
    std::vector<int> edgeInputs;        //!< surface fields

    //- Names of the columns of MeshState::staticFeatures
    std::vector<std::string> staticColumns;

    std::vector<std::string> versions;  //!< "OpenFOAM v1912 DP Int32", …
    std::string outputFolder;           //!< postProcessing/<name>/<startTime>
    std::string stableFolder;           //!< postProcessing/<name>
    double startTime = 0;               //!< s
    double endTime = std::numeric_limits<double>::infinity();   //!< of the run, s
    double timeTolerance = 1e-9;        //!< s; names of time folders are rounded

    //- The mesh may move or change during the run: then the one of an older checkpoint is
    //  another one than that of the start time
    bool meshMayChange = false;

    //- The mesh of begin() is that of the start time, not one that has changed since
    bool meshOfStartTime = true;

    //- Points of a checkpoint and of the mesh that is read again may differ by the rounding of
    //  the points' file: relative to the largest coordinate
    double pointRounding = 0;

    bool exactRestart = true;           //!< the solver restarts bit for bit (binary fields)
};


//- Names of the columns of the chosen fields, in their order
std::vector<std::string> columnNames(const std::vector<FieldSpec>& fields,
    const std::vector<int>& chosen);

//- Columns of the edges of a mesh: what its geometry gives, then the edge inputs
std::vector<std::string> edgeColumnNames(const TrainingCase& theCase, const CaseMesh& mesh);

//- Names of the chosen fields
std::vector<std::string> fieldNames(const std::vector<FieldSpec>& fields,
    const std::vector<int>& chosen);

//- For each of their columns, the position of its field within chosen
std::vector<int> fieldOfColumn(const std::vector<FieldSpec>& fields,
    const std::vector<int>& chosen);

}
