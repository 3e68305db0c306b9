// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Node.hpp"
#include "config/Schema.hpp"

#include <cstdint>
#include <string>

namespace inSitu
{

//- Throws ConfigError at the node's place: "<path> <fault>"
[[noreturn]] void fail(const Node& node, const std::string& path, const std::string& fault);

//- The text of a scalar node; path names it in messages. Lists and blocks are a ConfigError.
const std::string& scalarText(const Node& node, const std::string& path);

//- The text as a value, in the forms that readConfig (SchemaReader.hpp) describes.
//  Throws ConfigError if it is none or out of range.
bool parseBool(const Node& node, const std::string& path);
std::int64_t parseInt(const Node& node, const std::string& path, const Range& range);
double parseDouble(const Node& node, const std::string& path, const Range& range);

}
