// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Span.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

//- What has been sent so far, and the time spent waiting for others
struct Traffic
{
    std::uint64_t messages = 0;     //!< to neighbours
    std::uint64_t bytes = 0;        //!< in them
    std::uint64_t sums = 0;         //!< and other operations of all ranks
    std::uint64_t summedBytes = 0;  //!< contributed to them
    double seconds = 0;             //!< in calls, waiting included
};


//- Messages of fixed size between a rank and its neighbours, made once and sent many times.
//  The buffers belong to the exchange; those to send are free again behind finish().
class Exchange
{
public:

    virtual ~Exchange() = default;

    //- Of neighbour i, in the order given
    virtual void* toSend(std::size_t i) = 0;
    virtual const void* received(std::size_t i) const = 0;

    //- Send and receive all; what is received may be read behind finish(). Between the two calls
    //  the messages travel while the caller works.
    virtual void start() = 0;
    virtual void finish() = 0;
};


//- Memory that ranks on one node share. It ends on all of them at once, as it begins.
class SharedWindow
{
public:

    virtual ~SharedWindow() = default;

    //- The same bytes on each rank, aligned to 64
    virtual void* data() = 0;
    virtual std::size_t bytes() const = 0;

    //- What a rank has written before, all see behind this call. Collective.
    virtual void meet() = 0;
};


//- The ranks that work together. Calls are collective: all ranks, same order, one thread.
//  Throws Error if another rank has left.
class Comm
{
public:

    using Bytes = std::vector<std::uint8_t>;

    virtual ~Comm() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;

    //- The ranks on this node, this one included
    virtual int nodeSize() const = 0;

    //- Number of this node: that of the lowest rank on it
    virtual int node() const = 0;

    //- What messages call a rank: its number among those that this Comm is a part of
    virtual int numberOf(int rank) const { return rank; }

    //- How a rank waits for others: it asks all the time, or leaves its core to them
    enum class Waiting
    {
        busy,
        patient
    };

    //- The ranks that give the same number, in their order; null where it is negative. Who leaves
    //  one of all these leaves them all. What it sends is in the traffic() of this, which is its
    //  own, too. Collective; its end is too. Does not outlive this.
    virtual std::shared_ptr<Comm> part(int number, Waiting waiting) const = 0;

    //- Throws Error if the ranks are not on one node, AgreedError if there is no room for so much.
    //  Collective. Does not outlive this.
    virtual std::unique_ptr<SharedWindow> shared(std::size_t bytes) const = 0;

    //- Replace each entry by its sum, or maximum, over the ranks; the same bits on all. A
    //  not-a-number of one rank stays one.
    virtual void sum(Span<double> values) const = 0;
    virtual void max(Span<double> values) const = 0;

    //- Begin to replace the entries by their sums, of which several may be on their way. values
    //  are left alone until finishSums(), which ends all of them.
    virtual void startSum(Span<float> values) = 0;
    virtual void startSum(Span<double> values) = 0;
    virtual void finishSums() = 0;

    //- The master's bytes, on all ranks
    virtual void broadcast(Bytes& bytes) const = 0;

    //- On the master those of each rank, elsewhere nothing
    virtual std::vector<Bytes> gather(const Bytes& bytes) const = 0;

    //- outgoing[r] goes to rank r; returns what each rank has for this one
    virtual std::vector<Bytes> swap(const std::vector<Bytes>& outgoing) const = 0;

    struct Neighbour
    {
        int rank;
        std::size_t bytesToSend;
        std::size_t bytesToReceive;     //!< what it sends here
    };

    //- A rank occurs once. This call alone concerns neighbours only; both sides make their
    //  exchanges in the same order. The exchange must not outlive the comm.
    virtual std::unique_ptr<Exchange> exchange(const std::vector<Neighbour>& neighbours) = 0;

    //- Help what travels along: some libraries move long messages only while they are called. To
    //  be called now and then during long work, by this thread; not collective.
    virtual void progress() = 0;

    //- This rank gives up, for this reason: the others' present or next call throws it. No other
    //  call may follow, on any rank.
    virtual void leave(const std::string& reason) noexcept = 0;

    virtual Traffic traffic() const = 0;

    //- The same ranks once more for another thread of each, whose calls, and traffic(), are apart
    //  from these. Collective. Throws Error, on all ranks, if two threads cannot work with them at
    //  a time.
    virtual std::shared_ptr<Comm> forThread();

    //- The calling of this comm is over: the present or next call of its thread throws Error. For
    //  any thread.
    virtual void interrupt() noexcept {}

    bool isMaster() const { return rank() == 0; }
};


//- One rank
class SerialComm : public Comm
{
public:

    int rank() const override { return 0; }
    int size() const override { return 1; }
    int nodeSize() const override { return 1; }
    int node() const override { return 0; }
    std::shared_ptr<Comm> part(int number, Waiting) const override;
    std::unique_ptr<SharedWindow> shared(std::size_t bytes) const override;
    void sum(Span<double>) const override {}
    void max(Span<double>) const override {}
    void startSum(Span<float>) override {}
    void startSum(Span<double>) override {}
    void finishSums() override {}
    void broadcast(Bytes&) const override {}
    std::vector<Bytes> gather(const Bytes& bytes) const override { return {bytes}; }
    std::vector<Bytes> swap(const std::vector<Bytes>& outgoing) const override { return outgoing; }
    std::unique_ptr<Exchange> exchange(const std::vector<Neighbour>&) override;
    void progress() override {}
    void leave(const std::string&) noexcept override {}
    Traffic traffic() const override { return {}; }
    std::shared_ptr<Comm> forThread() override { return std::make_shared<SerialComm>(); }
};

}
