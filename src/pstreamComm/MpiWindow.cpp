// SPDX-License-Identifier: GPL-3.0-or-later
#include "MpiWindow.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "mpiCheck.hpp"

#include <cstdint>

#include <sys/statvfs.h>

namespace inSitu
{
namespace
{

constexpr std::size_t alignment = 64;

}


std::string MpiWindow::complaintAboutRoom(std::size_t bytes)
{
    const char* const place = "/dev/shm";
    struct statvfs room;
    if (::statvfs(place, &room) != 0)
    {
        return {};
    }
    const std::size_t free = static_cast<std::size_t>(room.f_bavail)*room.f_frsize;
    return free >= bytes + alignment ? std::string()
        : "ranks cannot share " + bytesText(bytes) + ": " + place + " has room for "
            + bytesText(free) + ". Enlarge it (in a container --shm-size)";
}


MpiWindow::MpiWindow(MpiChannel& channel, std::size_t bytes)
:
    channel_(channel),
    bytes_(bytes)
{
    if (channel.nodeSize() != channel.size())
    {
        throw Error("memory cannot be shared between nodes");
    }
    void* own = nullptr;
    const std::size_t here = channel.rank() == 0 ? bytes + alignment : 0;
    mpiCheck(MPI_Win_allocate_shared(static_cast<MPI_Aint>(here), 1, MPI_INFO_NULL,
        channel.comm(), &own, &window_), "MPI_Win_allocate_shared");
    mpiCheck(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");

    MPI_Aint size = 0;
    int unit = 0;
    mpiCheck(MPI_Win_shared_query(window_, 0, &size, &unit, &data_), "MPI_Win_shared_query");
    if (static_cast<std::size_t>(size) < bytes + alignment)
    {
        throw Error("MPI shares " + bytesText(static_cast<std::size_t>(size)) + " of memory, not "
            + bytesText(bytes));
    }
    // Ranks see it at other addresses, but each as far behind the beginning of a page
    const auto address = reinterpret_cast<std::uintptr_t>(data_);
    data_ = static_cast<char*>(data_) + (alignment - address % alignment) % alignment;
    mpiCheck(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
}


MpiWindow::~MpiWindow()
{
    if (!mpiRuns() || !channel_.sound())
    {
        return;
    }
    try
    {
        // So that the call below, which hears of nobody, waits for nobody
        meet();
    }
    catch (const Error&)
    {
        return;
    }
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
}


void MpiWindow::meet()
{
    const TrafficTimer timer(channel_.traffic);
    channel_.check();
    mpiCheck(MPI_Win_sync(window_), "MPI_Win_sync");
    std::vector<MPI_Request> requests(1, MPI_REQUEST_NULL);
    mpiCheck(MPI_Ibarrier(channel_.comm(), requests.data()), "MPI_Ibarrier");
    channel_.wait(requests, "MPI_Ibarrier");
    mpiCheck(MPI_Win_sync(window_), "MPI_Win_sync");
}

}
