// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace inSitu
{

//- A Comm that calls back after each call of all ranks, with the number of those so far
class WatchedComm final : public Comm
{
public:

    using Watch = std::function<void(int nCalls)>;

    //- comm outlives this
    WatchedComm(Comm& comm, Watch watch)
    :
        comm_(comm),
        watch_(std::move(watch))
    {}

    int rank() const override { return comm_.rank(); }
    int size() const override { return comm_.size(); }
    int nodeSize() const override { return comm_.nodeSize(); }
    int node() const override { return comm_.node(); }
    int numberOf(int rank) const override { return comm_.numberOf(rank); }

    std::shared_ptr<Comm> part(int number, Waiting waiting) const override
    {
        return comm_.part(number, waiting);
    }

    std::unique_ptr<SharedWindow> shared(std::size_t bytes) const override
    {
        return comm_.shared(bytes);
    }

    void sum(Span<double> values) const override
    {
        comm_.sum(values);
        watch_(++nCalls_);
    }

    void max(Span<double> values) const override
    {
        comm_.max(values);
        watch_(++nCalls_);
    }

    void startSum(Span<float> values) override { comm_.startSum(values); }
    void startSum(Span<double> values) override { comm_.startSum(values); }

    void finishSums() override
    {
        comm_.finishSums();
        watch_(++nCalls_);
    }

    void broadcast(Bytes& bytes) const override
    {
        comm_.broadcast(bytes);
        watch_(++nCalls_);
    }

    std::vector<Bytes> gather(const Bytes& bytes) const override
    {
        std::vector<Bytes> result = comm_.gather(bytes);
        watch_(++nCalls_);
        return result;
    }

    std::vector<Bytes> swap(const std::vector<Bytes>& outgoing) const override
    {
        std::vector<Bytes> result = comm_.swap(outgoing);
        watch_(++nCalls_);
        return result;
    }

    std::unique_ptr<Exchange> exchange(const std::vector<Neighbour>& neighbours) override
    {
        return comm_.exchange(neighbours);
    }

    void progress() override
    {
        comm_.progress();
        ++nProgress_;
    }

    void leave(const std::string& reason) noexcept override { comm_.leave(reason); }
    Traffic traffic() const override { return comm_.traffic(); }
    std::shared_ptr<Comm> forThread() override { return comm_.forThread(); }
    void interrupt() noexcept override { comm_.interrupt(); }

    int nCalls() const { return nCalls_; }

    //- Calls of progress()
    int nProgress() const { return nProgress_; }

private:

    Comm& comm_;
    Watch watch_;
    mutable int nCalls_ = 0;
    int nProgress_ = 0;
};

}
