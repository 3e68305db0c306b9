// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace inSitu
{

//- What core throws. The message has three parts: what was wrong, where, and
//  what would be right. The host turns it into its own kind of error.
class Error : public std::runtime_error
{
public:

    explicit Error(const std::string& message)
    :
        std::runtime_error(message)
    {}
};


//- A fault in what the user wrote. Carries the place, so that the host can
//  report file and line in its own way; what() starts with "file:line ".
class ConfigError : public Error
{
public:

    //- line is 0 where the source has none
    ConfigError(const std::string& file, int line, const std::string& message);

    const std::string& file() const { return file_; }
    int line() const { return line_; }

    //- The message without the place
    const std::string& message() const { return message_; }

private:

    std::string file_;
    int line_;
    std::string message_;
};


//- A checkpoint that belongs to another mesh or an incompatible configuration:
//  the difference is named, and nothing was changed.
class IncompatibleState : public Error
{
public:

    using Error::Error;
};


//- "a b c"
std::string join(const std::vector<std::string>& words, const std::string& separator = " ");

//- The candidate nearest to word in edit distance; empty if the distance of all is more than half of
//  the word's length
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

//- "; did you mean '…'?" with the nearest one, or the full stop
std::string didYouMean(const std::string& word, const std::vector<std::string>& candidates);

}
