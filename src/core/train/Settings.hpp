// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Flatten.hpp"
#include "config/ObjectConfig.hpp"
#include "train/TrainingConfig.hpp"

#include <map>
#include <string>
#include <vector>

namespace inSitu
{

//- The whole configuration of one trainer: read once, defaults included
struct Settings
{
    ObjectConfig object;
    TrainingConfig training;

    //- Where the block stands
    std::string file;
    int line = 0;

    //- Every value in force, path → text, and the same as one line of JSON
    std::map<std::string, std::string> values;
    std::string json;

    //- Entries of a training file that have no effect here, for the log
    std::vector<std::string> notes;

    bool increment() const { return object.target == "increment"; }
    bool isAsync() const { return object.mode == "async"; }

    //- All keys of the object and of its training block, as they stand in the reference
    void describe(Schema& schema);
};


//- Read and check the block of a function object. File names are relative to caseFolder;
//  `trainingFile` takes the place of `training`. hostKeys belong to the host. Throws ConfigError.
Settings readSettings(const Node& block, const std::string& name, const std::string& caseFolder,
    const std::vector<std::string>& hostKeys);

//- Must agree between a checkpoint and the run that resumes from it: fields, graph, model,
//  normaliser and precision
bool isFixedForever(const std::string& path);

//- Can be taken over by a running trainer
bool isChangeable(const std::string& path);

}
