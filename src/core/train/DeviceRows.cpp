// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/DeviceRows.hpp"

#include "train/FixedChunks.hpp"

#include <ATen/ATen.h>

#include <cstddef>
#include <cstring>

namespace inSitu
{
namespace
{

constexpr std::int64_t bytesPerChunk = 1 << 18;

}


DeviceRows::DeviceRows(const at::Device& device, std::shared_ptr<DeviceQueue> queue,
    std::shared_ptr<DeviceLibrary> library, std::shared_ptr<DeviceStore> store, ThreadPool& pool)
:
    device_(device),
    queue_(std::move(queue)),
    library_(std::move(library)),
    store_(std::move(store)),
    pool_(pool)
{}


at::Tensor DeviceRows::grown(at::Tensor& memory, std::size_t count, at::ScalarType type,
    const at::Device& device)
{
    const auto n = static_cast<std::int64_t>(count);
    if (!memory.defined() || memory.numel() < n)
    {
        queue_->waitFor(queue_->mark());
        memory = at::empty({n}, at::dtype(type).device(device)
            .pinned_memory(device.is_cpu() && !device_.is_cpu()));
    }
    return memory.narrow(0, 0, n);
}


void DeviceRows::fill(const BatchRows& rows, const at::Tensor& out)
{
    const auto copy = [this](const at::Tensor& there, const at::Tensor& here)
        { queue_->put([there, here] { at::Tensor(there).copy_(here, true); }); };

    const std::size_t nSamples = rows.rows.size();
    const std::size_t nNumbers = rows.numbers.size();
    const std::size_t bytes =
        static_cast<std::size_t>(rows.nRows)*rows.nColumns*out.element_size();
    const auto partOf = [&](const at::Tensor& memory, std::size_t i)
        { return memory.narrow(0, static_cast<std::int64_t>(i*bytes),
            static_cast<std::int64_t>(bytes)); };

    const at::Tensor letter = grown(letter_, nSamples + nNumbers, at::kLong, at::kCPU);
    auto* addresses = letter.mutable_data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < nSamples; ++i)
    {
        auto [there, isNew] = store_->placeOf(*rows.rows[i], bytes);
        if (!there.defined())
        {
            there = partOf(grown(passing_, nSamples*bytes, at::kByte, device_), i);
        }
        if (isNew)
        {
            const at::Tensor here = partOf(
                grown(staging_, nSamples*bytes, at::kByte, at::kCPU), i);
            auto* to = static_cast<std::byte*>(here.mutable_data_ptr());
            const auto* from = static_cast<const std::byte*>(rows.rows[i]->get());
            forChunks(pool_, here.numel(), [&](std::int64_t first, std::int64_t last, int)
                { std::memcpy(to + first, from + first, last - first); }, bytesPerChunk);
            copy(there, here);
        }
        addresses[i] = static_cast<std::int64_t>(
            reinterpret_cast<std::uintptr_t>(there.mutable_data_ptr()));
    }
    std::memcpy(addresses + nSamples, rows.numbers.data(), nNumbers*sizeof(double));
    const at::Tensor letterThere =
        grown(letterThere_, nSamples + nNumbers, at::kLong, device_);
    copy(letterThere, letter);

    RowScaling work;
    work.rows = letterThere.narrow(0, 0, static_cast<std::int64_t>(nSamples));
    work.numbers = letterThere.narrow(0, static_cast<std::int64_t>(nSamples),
        static_cast<std::int64_t>(nNumbers)).view(at::kDouble);
    if (rows.noise.defined())
    {
        work.noise = grown(noiseThere_, static_cast<std::size_t>(rows.noise.numel()),
            out.scalar_type(), device_).view(rows.noise.sizes());
        copy(work.noise, rows.noise);
    }
    work.out = out;
    work.nColumns = rows.nColumns;
    work.nFeatures = rows.nFeatures;
    work.first = rows.first;
    queue_->put([library = library_, work] { library->scaleRows(work); });
}

}
