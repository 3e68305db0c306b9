// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Node.hpp"

#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- YAML text (hence also JSON) as Nodes, keys and values as written; null becomes an empty
//  text. name stands for the file in places and messages. Throws ConfigError with line:
//  malformed text, duplicate key, more than one document, a key that is no plain word.
Node parseYaml(const std::string& text, const std::string& name);


//- What a training file says
struct TrainingFile
{
    Node training;                      //!< in the schema of the block `training`
    std::optional<Node> reportInterval; //!< TorchFort's report_frequency, if it is not 0
    std::vector<std::string> notes;     //!< entries without effect here, for the log
};

//- Read a training file. snake_case keys, and the words after `type`, become camelCase
//  (learning_rate → learningRate, T_max → TMax, cosine_annealing → cosineAnnealing).
//  A TorchFort file (blocks general model loss optimizer lr_scheduler, with `parameters` or
//  `general` inside) is recognised by its nesting; its keys and words are compared without
//  case and blanks, and it is flattened to the same schema. Values outside its blocks
//  (seed: 3) are read as in any other file. Throws ConfigError with file and line: missing,
//  unreadable, empty or malformed file, duplicate key, a block that TorchFort's supervised
//  training does not have (TorchFort itself passes over those in silence).
TrainingFile readTrainingFile(const std::string& path);

//- If block names a `trainingFile` (relative to caseFolder), add its content as the entry
//  `training`, and `reportInterval` if block has none of its own. Returns the notes of the
//  file. Throws ConfigError as readTrainingFile, or if block has an entry `training` too.
std::vector<std::string> insertTrainingFile(Node& block, const std::string& path,
    const std::string& caseFolder);

}
