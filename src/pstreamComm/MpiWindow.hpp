// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "MpiChannel.hpp"

namespace inSitu
{

//- A shared-memory window of MPI, all of it in the part of the first rank
class MpiWindow final : public SharedWindow
{
public:

    //- Where memory of this node is shared now, there is no room for so many bytes: what there is, and
    //  the remedy. Empty: there is, or the place is not known.
    static std::string complaintAboutRoom(std::size_t bytes);

    //- Collective. Throws Error if the ranks are not on one node.
    MpiWindow(MpiChannel& channel, std::size_t bytes);

    //- Collective, unless a rank has left or MPI has ended: then the memory stays until the process
    //  ends
    ~MpiWindow() override;

    void* data() override { return data_; }
    std::size_t bytes() const override { return bytes_; }
    void meet() override;

private:

    MpiChannel& channel_;
    std::size_t bytes_;
    MPI_Win window_ = MPI_WIN_NULL;
    void* data_ = nullptr;
};

}
