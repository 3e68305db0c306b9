// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/DeviceLibrary.hpp"
#include "model/DeviceRanks.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

//- All that a recording depends on besides values in the memory that it reads. What is named by
//  address is held, so that the address is not met again.
class CaptureKey
{
public:

    CaptureKey& add(std::int64_t number);
    CaptureKey& add(double number);

    //- Its memory, type, sizes and device
    CaptureKey& add(const at::Tensor& tensor);

    CaptureKey& add(std::shared_ptr<const void> object);

    bool operator==(const CaptureKey& other) const { return words_ == other.words_; }

private:

    std::vector<std::int64_t> words_;
    std::vector<at::Tensor> tensors_;
    std::vector<std::shared_ptr<const void>> objects_;
};


//- Runs work that comes again and again on a device: eagerly at first, so that it finds its memory,
//  then recorded and from there on replayed as a whole, which costs one launch instead of hundreds.
//
//  For each key: warm-up (eager, nWarmUp times) → captured (recorded and replayed) → replay.
//  forget(), and memory that the model gave back, invalidate all: warm-up again.
//  Once maxCaptures keys have been recorded, new ones stay eager, with one message.
//  Ranks that compute one model do the same at a time: all of them what the least advanced one does.
//
//  Work reads and writes memory that stays where it is as long as the key is the same, and decides
//  nothing on the host that the key does not say.
class CaptureRunner
{
public:

    enum class Mode
    {
        off,        //!< always eager
        automatic,  //!< eager with one message where the device refuses to record
        required    //!< a failure instead
    };

    //- From the least advanced one on
    enum class State
    {
        eager,
        warmUp,
        captured,
        replay
    };

    static constexpr int nWarmUp = 3;

    //- note receives the message; library and queue are of the device, ranks is null for one rank
    CaptureRunner(std::shared_ptr<DeviceLibrary> library, std::shared_ptr<DeviceQueue> queue,
        std::shared_ptr<DeviceRanks> ranks, Mode mode, std::int64_t maxCaptures,
        std::function<void(const std::string&)> note);

    //- Put work into the queue; what was done with it. Collective.
    State run(const CaptureKey& key, std::function<void()> work);

    //- Nothing recorded holds any longer
    void forget();

    std::int64_t nCaptures() const { return nCaptures_; }       //!< so far
    std::int64_t nReplays() const { return nReplays_; }         //!< so far, first ones included

private:

    struct Entry
    {
        CaptureKey key;
        int nRuns = 0;
        std::unique_ptr<Recording> recording;
    };

    Entry* entryOf(const CaptureKey& key);
    State next(const Entry* entry) const;
    bool record(Entry& entry, const std::function<void()>& work);
    void tell(const std::string& message);

    std::shared_ptr<DeviceLibrary> library_;
    std::shared_ptr<DeviceQueue> queue_;
    std::shared_ptr<DeviceRanks> ranks_;
    Mode mode_;
    std::size_t maxCaptures_;
    std::function<void(const std::string&)> note_;
    std::list<Entry> entries_;          // the last used comes last
    std::int64_t stamp_ = 0;            // of the memory, when the present recordings were made
    std::int64_t nCaptures_ = 0;
    std::int64_t nReplays_ = 0;
    bool told_ = false;
};

}
