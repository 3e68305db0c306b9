// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace inSitu
{

//- Where core speaks to the user; the host decides how it looks and which rank
//  prints. Texts may have several lines and carry no trailing newline.
class LogSink
{
public:

    virtual ~LogSink() = default;

    virtual void info(const std::string& text) = 0;
    virtual void warning(const std::string& text) = 0;
};

}
