// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Node.hpp"
#include "config/Schema.hpp"

namespace inSitu
{

//- Fill a configuration from what the user wrote: describe names the keys, values are
//  converted and checked, and any key that describe did not name is an error with file,
//  line and the nearest valid key, or the block that it belongs into. Keys of hostKeys are left to the host program.
//  Numbers must be complete (no "3 steps", no "1e400"), integers are written in digits
//  ("1000", not "1e3"), booleans are OpenFOAM's words yes no on off true false y n t f none
//  and 0 1, in any case. Throws ConfigError with the key's place and its path in dots:
//      system/controlDict:60 surrogate.buffer.capacity is 0; it must be >= 1
void readConfig
(
    const Node& node,
    const std::string& path,        //!< name of the block in messages, e.g. "surrogate"
    const std::function<void(Schema&)>& describe,
    const std::vector<std::string>& hostKeys = {}
);

//- The values that are in force now, defaults included, as a Node tree
Node writeConfig(const std::function<void(Schema&)>& describe);

//- One row of the dictionary reference
struct KeyDescription
{
    std::string path;           //!< "training.model[meshGraphNet].hiddenSize"
    std::string type;           //!< "integer >= 1", "word: adam adamw sgd"
    std::string defaultValue;   //!< "required" or "-" where there is none
    std::string meaning;
};

//- Every key of every alternative, in the order described
std::vector<KeyDescription> describeConfig(const std::function<void(Schema&)>& describe);

//- describeConfig as a Markdown table, as it stands in docs/dictionary.md
std::string markdownTable(const std::vector<KeyDescription>& keys);

}
