// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <mpi.h>

#include <memory>

namespace inSitu
{

//- The ranks of an MPI communicator, of which it uses duplicates. Never starts or ends MPI.
//
//  Waits poll for what is waited for and for the notice that a rank has left, so a rank that gives
//  up ends all. What MPI has begun then cannot be taken back: everything that it may still touch
//  belongs to this class, which keeps it until the process ends. Sums therefore work on a copy of
//  the values; its memory is used again.
//
//  Errors of MPI are Errors that name the call and repeat MPI's text. Calls are for the thread that
//  constructed the object, unless MPI runs with MPI_THREAD_MULTIPLE.
class MpiComm final : public Comm
{
public:

    //- Longest message in one piece, in bytes; longer ones of broadcast, gather and swap travel in
    //  several. MPI counts up to 2^31 - 1.
    static constexpr std::size_t longestPiece = std::size_t(1) << 30;

    //- Collective; so is the destructor, unless a rank has left or MPI has ended
    explicit MpiComm(MPI_Comm parent, std::size_t piece = longestPiece);
    ~MpiComm() override;

    int rank() const override;
    int size() const override;
    int nodeSize() const override;
    int node() const override;
    int numberOf(int rank) const override;

    std::shared_ptr<Comm> part(int number, Waiting waiting) const override;
    std::unique_ptr<SharedWindow> shared(std::size_t bytes) const override;

    void sum(Span<double> values) const override;
    void max(Span<double> values) const override;

    void startSum(Span<float> values) override;
    void startSum(Span<double> values) override;
    void finishSums() override;

    void broadcast(Bytes& bytes) const override;
    std::vector<Bytes> gather(const Bytes& bytes) const override;
    std::vector<Bytes> swap(const std::vector<Bytes>& outgoing) const override;

    std::unique_ptr<Exchange> exchange(const std::vector<Neighbour>& neighbours) override;

    void progress() override;

    void leave(const std::string& reason) noexcept override;

    Traffic traffic() const override;

    //- Throws Error unless MPI runs with MPI_THREAD_MULTIPLE
    std::shared_ptr<Comm> forThread() override;

    void interrupt() noexcept override;

private:

    struct Impl;
    explicit MpiComm(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
};

}
