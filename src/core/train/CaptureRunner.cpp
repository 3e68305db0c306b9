// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/CaptureRunner.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <exception>

namespace inSitu
{

CaptureKey& CaptureKey::add(std::int64_t number)
{
    words_.push_back(number);
    return *this;
}


CaptureKey& CaptureKey::add(double number)
{
    std::int64_t bits;
    std::memcpy(&bits, &number, sizeof(bits));
    return add(bits);
}


CaptureKey& CaptureKey::add(const at::Tensor& tensor)
{
    add(reinterpret_cast<std::int64_t>(tensor.const_data_ptr()));
    add(static_cast<std::int64_t>(tensor.scalar_type()));
    add(static_cast<std::int64_t>(tensor.device().type()));
    add(static_cast<std::int64_t>(tensor.device().index()));
    add(tensor.dim());
    for (const std::int64_t size : tensor.sizes())
    {
        add(size);
    }
    tensors_.push_back(tensor);
    return *this;
}


CaptureKey& CaptureKey::add(std::shared_ptr<const void> object)
{
    add(reinterpret_cast<std::int64_t>(object.get()));
    objects_.push_back(std::move(object));
    return *this;
}


CaptureRunner::CaptureRunner(std::shared_ptr<DeviceLibrary> library,
    std::shared_ptr<DeviceQueue> queue, std::shared_ptr<DeviceRanks> ranks, Mode mode,
    std::int64_t maxCaptures, std::function<void(const std::string&)> note)
:
    library_(std::move(library)),
    queue_(std::move(queue)),
    ranks_(std::move(ranks)),
    mode_(mode),
    maxCaptures_(static_cast<std::size_t>(maxCaptures)),
    note_(std::move(note)),
    stamp_(library_->memoryStamp())
{}


CaptureRunner::Entry* CaptureRunner::entryOf(const CaptureKey& key)
{
    const auto found = std::find_if(entries_.begin(), entries_.end(),
        [&](const Entry& entry) { return entry.key == key; });
    if (found != entries_.end())
    {
        entries_.splice(entries_.end(), entries_, found);
        return &entries_.back();
    }
    if (entries_.size() == maxCaptures_)
    {
        // One that was not recorded may go, the longest unused: a mesh that moved on
        const auto idle = std::find_if(entries_.begin(), entries_.end(),
            [](const Entry& entry) { return !entry.recording; });
        if (idle == entries_.end())
        {
            return nullptr;
        }
        entries_.erase(idle);
    }
    entries_.push_back({key, 0, nullptr});
    return &entries_.back();
}


//- What this rank could do
CaptureRunner::State CaptureRunner::next(const Entry* entry) const
{
    return !entry ? State::eager
        : entry->recording ? State::replay
        : entry->nRuns < nWarmUp ? State::warmUp
        : State::captured;
}


CaptureRunner::State CaptureRunner::run(const CaptureKey& key, std::function<void()> work)
{
    if (mode_ == Mode::off)
    {
        queue_->quiesce();
        queue_->put(std::move(work));
        return State::eager;
    }
    if (library_->memoryStamp() != stamp_)
    {
        forget();
    }
    Entry* entry = entryOf(key);
    State state = next(entry);
    if (ranks_)
    {
        state = static_cast<State>(leastOf(ranks_->hosts(), static_cast<double>(state)));
    }
    if (state == State::replay)
    {
        entry->recording->replay();
        ++nReplays_;
        return state;
    }

    queue_->quiesce();
    if (state == State::captured && !record(*entry, work))
    {
        state = State::eager;
    }
    switch (state)
    {
        case State::eager:
            if (mode_ != Mode::off)
            {
                tell("more than maxCaptures " + std::to_string(maxCaptures_) + " kinds of steps"
                    " (meshes, batches): new ones are not captured; raise maxCaptures if they come"
                    " often");
            }
            queue_->put(std::move(work));
            break;
        case State::warmUp:
            ++entry->nRuns;
            queue_->put(std::move(work));
            break;
        default:
            entry->recording->replay();
            ++nReplays_;
    }
    return state;
}


//- False: a device has refused, and all go on eagerly
bool CaptureRunner::record(Entry& entry, const std::function<void()>& work)
{
    std::string refusal;
    try
    {
        entry.recording.reset();
        entry.recording = queue_->record(work);
    }
    catch (const std::exception& error)
    {
        refusal = error.what();
    }
    refusal = ranks_ ? firstText(ranks_->hosts(), refusal) : refusal;
    if (refusal.empty())
    {
        ++nCaptures_;
        return true;
    }

    if (mode_ == Mode::required)
    {
        throw Error("the step cannot be captured: " + refusal + "\n    Remedy: capture auto or no");
    }
    mode_ = Mode::off;
    forget();
    tell("the device cannot capture the step, so each kernel is launched by itself: " + refusal);
    return false;
}


void CaptureRunner::forget()
{
    // The queue may not be through with what was recorded
    if (!entries_.empty())
    {
        queue_->waitFor(queue_->mark());
    }
    entries_.clear();
    stamp_ = library_->memoryStamp();
}


void CaptureRunner::tell(const std::string& message)
{
    if (!told_ && note_)
    {
        note_(message);
    }
    told_ = true;
}

}
