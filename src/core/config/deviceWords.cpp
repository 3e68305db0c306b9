// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/deviceWords.hpp"

namespace inSitu
{

std::string complaintAboutDevice(const std::string& entry)
{
    const bool isNumbered = entry.size() > 5 && entry.size() < 9
        && entry.compare(0, 5, "cuda:") == 0
        && entry.find_first_not_of("0123456789", 5) == std::string::npos;
    return entry == "auto" || entry == "cpu" || entry == "cuda" || isNumbered
        ? std::string()
        : "device '" + entry + "' is not known; one of: auto cpu cuda cuda:N";
}

}
