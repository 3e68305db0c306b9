// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/stat.h>

#include <string>

namespace inSitu
{

//- Tells a file from another one put in its place, and from itself before it was written anew
struct FileIdentity
{
    dev_t device = 0;
    ino_t inode = 0;
    off_t bytes = 0;
    time_t seconds = 0;
    long nanoseconds = 0;

    //- All zero if there is no such file
    static FileIdentity of(const std::string& path)
    {
        struct stat status;
        if (path.empty() || stat(path.c_str(), &status) != 0)
        {
            return {};
        }
        return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec};
    }

    bool exists() const { return inode != 0; }

    bool operator==(const FileIdentity& other) const
    {
        return device == other.device && inode == other.inode && bytes == other.bytes
            && seconds == other.seconds && nanoseconds == other.nanoseconds;
    }
};

}
