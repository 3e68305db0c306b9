// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "HostRanks.hpp"
#include "base/Error.hpp"
#include "model/DeviceLibrary.hpp"
#include "model/MeshGraphNetPass.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace inSitu
{

//- A queue in which nothing is done before somebody waits for it: who overwrites too early what he
//  has handed over, or reads too early what he will get, gets other numbers
class FakeQueue final : public DeviceQueue
{
public:

    void put(std::function<void()> work) override
    {
        work_.push_back(std::move(work));
        ++nPut_;
    }

    std::unique_ptr<Recording> record(std::function<void()> work) override
    {
        if (refuses)
        {
            throw Error("refused\nhere");
        }
        ++nRecords;
        return std::make_unique<FakeRecording>(*this, std::move(work));
    }

    std::int64_t mark() override { return nPut_; }

    void waitFor(std::int64_t mark) override
    {
        while (nDone_ < mark)
        {
            const std::function<void()> work = std::move(work_.front());
            work_.pop_front();
            ++nDone_;
            work();
        }
    }

    std::shared_ptr<DeviceQueue> makeBeside() override { return std::make_shared<FakeQueue>(); }

    void follow(DeviceQueue& other, std::int64_t mark) override
    {
        put([&other, mark] { other.waitFor(mark); });
    }

    void quiesce() override
    {
        if (hasOtherRanks)
        {
            waitFor(nPut_);
        }
    }

    bool refuses = false;
    bool hasOtherRanks = false;
    std::int64_t stamp = 0;
    int nRecords = 0;

private:

    //- Does its work again, with what it had when it was recorded
    struct FakeRecording final : Recording
    {
        FakeRecording(FakeQueue& theQueue, std::function<void()> theWork)
        :
            queue(theQueue),
            work(std::move(theWork)),
            stamp(theQueue.stamp)
        {}

        void replay() override
        {
            EXPECT_EQ(stamp, queue.stamp) << "replayed on memory that was given back";
            queue.put(work);
        }

        FakeQueue& queue;
        std::function<void()> work;
        std::int64_t stamp;
    };

    std::deque<std::function<void()>> work_;
    std::int64_t nPut_ = 0;
    std::int64_t nDone_ = 0;
};


//- One device that is the CPU
class FakeDevice : public DeviceLibrary
{
public:

    int nDevices() const override { return nGpus; }
    std::string nameOf(int) const override { return "fake"; }
    at::Device device(int) const override { return at::kCPU; }

    std::string identityOf(int index) const override
    {
        return "board " + std::to_string(firstBoard + index);
    }

    std::shared_ptr<DeviceRanks> joinRanks(int, std::shared_ptr<Comm> comm) override
    {
        return std::make_shared<HostRanks>(std::move(comm));
    }

    std::shared_ptr<DeviceQueue> makeQueue(int, const std::shared_ptr<DeviceRanks>& ranks) override
    {
        queue->hasOtherRanks = ranks != nullptr;
        return queue;
    }

    std::int64_t memoryStamp() const override { return queue->stamp; }
    Memory memoryOf(int) const override { return {freeMemory, 5 << 20}; }

    void scaleRows(const RowScaling& rows) override
    {
        ++nScalings;
        rows.out.scalar_type() == at::kDouble ? scale<double>(rows) : scale<float>(rows);
    }

    int nGpus = 1;
    int firstBoard = 0;                 //!< that of device 0
    std::size_t freeMemory = 3 << 20;
    int nScalings = 0;                  //!< tensors that were made here of rows as gathered
    std::shared_ptr<FakeQueue> queue = std::make_shared<FakeQueue>();
    DeviceChoice choice;                //!< of the last model

protected:

    std::shared_ptr<GraphPass<double>> doublePass(const MeshGraphNetSizes& sizes,
        const ParameterSet& parameters, const DeviceChoice& theChoice) override
    {
        return onHost<double>(sizes, parameters, theChoice);
    }

    std::shared_ptr<GraphPass<float>> floatPass(const MeshGraphNetSizes& sizes,
        const ParameterSet& parameters, const DeviceChoice& theChoice) override
    {
        return onHost<float>(sizes, parameters, theChoice);
    }

private:

    template<class T>
    std::shared_ptr<GraphPass<T>> onHost(const MeshGraphNetSizes& sizes,
        const ParameterSet& parameters, const DeviceChoice& theChoice)
    {
        choice = theChoice;
        auto pass = std::make_shared<MeshGraphNetPass<T>>(sizes, parameters, pool_);
        if (choice.ranks)
        {
            pass->joinRanks(std::static_pointer_cast<HostRanks>(choice.ranks)->comm());
        }
        return pass;
    }

    template<class Value>
    static void scale(const RowScaling& rows)
    {
        const int n = rows.nColumns + rows.nFeatures;
        const auto* numbers = rows.numbers.const_data_ptr<double>();
        for (std::int64_t s = 0; s < rows.nSamples(); ++s)
        {
            const auto* values =
                reinterpret_cast<const Value*>(rows.rows.const_data_ptr<std::int64_t>()[s]);
            auto* out = rows.out.mutable_data_ptr<Value>() + s*rows.nRows()*rows.stride();
            for (std::int64_t r = 0; r < rows.nRows(); ++r)
            {
                for (int c = 0; c < n; ++c)
                {
                    const double value = c < rows.nColumns ? values[r*rows.nColumns + c]
                        : numbers[2*n + s*rows.nFeatures + c - rows.nColumns];
                    auto scaled = static_cast<Value>((value - numbers[c])/numbers[n + c]);
                    if (c < rows.nColumns && r < rows.nNoisyRows())
                    {
                        scaled += rows.noise.const_data_ptr<Value>()
                            [(s*rows.nNoisyRows() + r)*rows.nColumns + c];
                    }
                    out[r*rows.stride() + rows.first + c] = scaled;
                }
            }
        }
    }

    ThreadPool pool_{1};
};

}
