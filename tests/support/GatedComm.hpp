// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>

namespace inSitu
{

//- Where a thread waits until a test lets it pass
class Gate
{
public:

    void open() { set(true); }
    void close() { set(false); }

    void pass()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        ++nArrived_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return isOpen_; });
    }

    //- Until somebody has come here, since the gate was closed
    void awaitArrival()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return nArrived_ > 0; });
    }

private:

    void set(bool isOpen)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        isOpen_ = isOpen;
        nArrived_ = 0;
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool isOpen_ = true;
    int nArrived_ = 0;
};


//- One rank, whose second thread passes a gate at each sum and maximum: a trainer there is as slow
//  as a test wants it to be
class GatedComm final : public SerialComm
{
public:

    explicit GatedComm(std::shared_ptr<Gate> gate)
    :
        gate_(std::move(gate))
    {}

    std::shared_ptr<Comm> forThread() override { return std::make_shared<Gated>(gate_); }

private:

    class Gated final : public SerialComm
    {
    public:

        explicit Gated(std::shared_ptr<Gate> gate)
        :
            gate_(std::move(gate))
        {}

        void sum(Span<double>) const override { gate_->pass(); }
        void max(Span<double>) const override { gate_->pass(); }

    private:

        std::shared_ptr<Gate> gate_;
    };

    std::shared_ptr<Gate> gate_;
};

}
