// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/Disk.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace inSitu
{
namespace
{

[[noreturn]] void failSystem(const std::string& what)
{
    throw Error(what + ": " + std::strerror(errno));
}


void rename(const std::string& from, const std::string& to)
{
    if (std::rename(from.c_str(), to.c_str()) != 0)
    {
        failSystem("cannot rename '" + from + "' to '" + to + '\'');
    }
}


//- Is name "<stem>.tmp<pid>" of a process that has ended?
bool isLeftover(const std::string& name, const std::string& stem)
{
    const std::string mark = stem + ".tmp";
    if (name.compare(0, mark.size(), mark) != 0)
    {
        return false;
    }
    const char* const end = name.data() + name.size();
    pid_t process = 0;
    const auto result = std::from_chars(name.data() + mark.size(), end, process);
    return result.ec == std::errc() && result.ptr == end && process > 0
        && kill(process, 0) != 0 && errno == ESRCH;
}

}


void syncToDisk(const std::string& path)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
    {
        failSystem("cannot open '" + path + "' to sync it");
    }
    const bool synced = fsync(file) == 0;
    const int fault = errno;
    close(file);

    // Some file systems have nothing to sync in a folder and say so
    if (!synced && fault != EINVAL && fault != ENOTSUP)
    {
        errno = fault;
        failSystem("cannot sync '" + path + '\'');
    }
}


std::string parentOf(const std::string& path)
{
    const std::string parent = fs::path(path).parent_path().string();
    return parent.empty() ? "." : parent;
}


void requireSpace(const std::string& folder, std::size_t bytes)
{
    struct statvfs system;
    if (statvfs(folder.c_str(), &system) != 0)
    {
        failSystem("cannot ask for the free space in '" + folder + '\'');
    }
    const std::size_t free = static_cast<std::size_t>(system.f_bavail)*system.f_frsize;
    if (free < bytes)
    {
        throw Error("not enough space left in '" + folder + "': " + std::to_string(bytes)
            + " bytes are needed, " + std::to_string(free) + " are free");
    }
}


std::string temporaryName(const std::string& path)
{
    return path + ".tmp" + std::to_string(getpid());
}


void removeLeftovers(const std::string& path)
{
    const std::string stem = fs::path(path).filename().string();
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(parentOf(path), ignored))
    {
        if (isLeftover(entry.path().filename().string(), stem))
        {
            fs::remove_all(entry.path(), ignored);
        }
    }
}


std::string readFile(const std::string& path)
{
    constexpr std::uintmax_t maximumBytes = std::uintmax_t(4) << 30;
    std::error_code error;
    if (!fs::exists(path, error))
    {
        throw Error('\'' + path + "' does not exist");
    }
    if (!fs::is_regular_file(path, error))
    {
        throw Error('\'' + path + "' is not a plain file");
    }
    const std::uintmax_t size = fs::file_size(path, error);
    if (!error && size > maximumBytes)
    {
        throw Error('\'' + path + "' has " + bytesText(size) + "; at most "
            + bytesText(maximumBytes) + " are read");
    }

    std::string bytes(error ? 0 : static_cast<std::size_t>(size), '\0');
    std::ifstream file(path, std::ios::binary);
    if (error || !file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    {
        failSystem('\'' + path + "' cannot be read");
    }
    return bytes;
}


void replaceFile(const std::string& path, std::string_view bytes)
{
    const std::string beside = temporaryName(path);
    const RemoveAtExit cleanup(beside);

    removeLeftovers(path);
    requireSpace(parentOf(path), bytes.size());
    std::ofstream file(beside, std::ios::binary);
    if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
    {
        throw Error('\'' + beside + "' cannot be written (" + std::strerror(errno)
            + "); check the folder's permissions and the space on the disk");
    }
    file.close();
    publishFile(path);
}


void publishFile(const std::string& path)
{
    const std::string temporary = temporaryName(path);
    const RemoveAtExit remover(temporary);

    syncToDisk(temporary);
    rename(temporary, path);
    syncToDisk(parentOf(path));
}


void publishFolder(const std::string& path)
{
    const std::string temporary = temporaryName(path);
    const std::string aside = path + ".old";
    const RemoveAtExit remover(temporary);

    syncToDisk(temporary);

    const bool replaces = fs::exists(path);
    if (replaces)
    {
        rename(path, aside);
    }
    try
    {
        rename(temporary, path);
    }
    catch (const Error&)
    {
        if (replaces)
        {
            rename(aside, path);
        }
        throw;
    }

    // The old folder goes only when the new one is sure to stay
    syncToDisk(parentOf(path));
    std::error_code ignored;
    fs::remove_all(aside, ignored);
}


RemoveAtExit::RemoveAtExit(std::string path)
:
    path_(std::move(path))
{}


RemoveAtExit::~RemoveAtExit()
{
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}


const std::string& createdFolder(const std::string& folder)
{
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault)
    {
        throw Error("cannot create the folder " + folder + ": " + fault.message()
            + "; it must be possible to write below the case's postProcessing folder");
    }
    return folder;
}

}
