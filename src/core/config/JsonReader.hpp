// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Node.hpp"

#include <string>
#include <string_view>

namespace inSitu
{

//- JSON text from anywhere as Nodes: keys as written, texts with quoted set, numbers, true and
//  false as their words, null as an empty text; Python's NaN, Infinity and -Infinity are
//  numbers. Safe for hostile text: time and memory are linear in it, nesting ends at 64.
//  name stands for the file in places and messages. Throws ConfigError with line: anything
//  that is not JSON, a key given twice, text behind the end.
Node parseJson(std::string_view text, const std::string& name);

}
