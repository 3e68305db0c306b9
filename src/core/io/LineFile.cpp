// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/LineFile.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace inSitu
{

LineFile::LineFile(const std::string& path, Start start,
    std::function<void(const std::string&)> tell)
:
    path_(path),
    tell_(std::move(tell))
{
    if (path.empty())
    {
        return;
    }
    file_ = ::open(path.c_str(),
        O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (start == Start::anew ? O_TRUNC : 0), 0666);
    good_ = file_ >= 0;

    const off_t size = good_ ? ::lseek(file_, 0, SEEK_END) : 0;
    char last = '\n';
    endsInsideLine_ = size > 0 && ::pread(file_, &last, 1, size - 1) == 1 && last != '\n';
}


LineFile::~LineFile()
{
    if (file_ >= 0)
    {
        ::close(file_);
    }
}


void LineFile::write(const std::string& line)
{
    if (file_ < 0)
    {
        return;
    }
    const std::string text = (endsInsideLine_ ? "\n" : "") + line + '\n';
    const off_t before = ::lseek(file_, 0, SEEK_END);
    std::size_t written = 0;
    int fault = 0;
    while (written < text.size() && fault == 0)
    {
        const ssize_t n = ::write(file_, text.data() + written, text.size() - written);
        written += n > 0 ? static_cast<std::size_t>(n) : 0;
        fault = n < 0 && errno != EINTR ? errno : 0;
    }
    if (fault == 0)
    {
        endsInsideLine_ = false;
        return;
    }

    if (written > 0 && (before < 0 || ::ftruncate(file_, before) != 0))
    {
        endsInsideLine_ = true;
    }
    if (std::exchange(good_, false) && tell_)
    {
        tell_("cannot write to " + path_ + ": " + std::strerror(fault) + ". Lines are missing there"
            " from now on, until there is space again; the run goes on");
    }
}

}
