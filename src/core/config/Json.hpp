// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace inSitu
{

//- text as a JSON string, quotes included. Control characters are escaped; bytes that are
//  not UTF-8 become the replacement character, so that the result always parses.
std::string jsonString(std::string_view text);

//- The shortest decimal that reads back as the same double; "null" if it is not finite
std::string jsonNumber(double value);

//- Does text follow JSON's grammar of numbers?
bool isJsonNumber(std::string_view text);

}
