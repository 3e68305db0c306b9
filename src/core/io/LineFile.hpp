// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

namespace inSitu
{

//- A file of lines, each handed to the system at once. A line that the disk does not take whole is
//  taken off again, and the next one is tried as if nothing had been. No fault is thrown: metrics must
//  not end a run; the first one is told.
class LineFile
{
public:

    enum class Start
    {
        anew,       //!< without what an earlier file of that name holds
        append      //!< behind it; half a line at its end stays a line of its own
    };

    //- Empty path: nothing is written. tell gets the sentence about the first line that was lost; may
    //  be empty.
    LineFile(const std::string& path, Start start,
        std::function<void(const std::string&)> tell = {});
    ~LineFile();

    LineFile(const LineFile&) = delete;
    LineFile& operator=(const LineFile&) = delete;

    //- line without its end
    void write(const std::string& line);

    //- False if any line was lost, or the file could not be opened
    bool good() const { return good_; }

private:

    std::string path_;
    std::function<void(const std::string&)> tell_;
    int file_ = -1;
    bool good_ = true;
    bool endsInsideLine_ = false;
};

}
