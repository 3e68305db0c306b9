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


//- [count] of the host, with place for more
at::Tensor grown(at::Tensor& memory, std::size_t count, at::ScalarType type, bool pinned)
{
    const auto n = static_cast<std::int64_t>(count);
    if (!memory.defined() || memory.numel() < n)
    {
        memory = at::empty({n}, at::dtype(type).pinned_memory(pinned));
    }
    return memory.narrow(0, 0, n);
}

}


DeviceRows::DeviceRows(std::shared_ptr<DeviceQueue> queue, std::shared_ptr<DeviceCopies> copies,
    std::shared_ptr<DeviceLibrary> library, std::shared_ptr<DeviceStore> store, ThreadPool& pool)
:
    queue_(std::move(queue)),
    copies_(std::move(copies)),
    library_(std::move(library)),
    store_(std::move(store)),
    pool_(pool)
{}


void DeviceRows::fill(const BatchRows& rows, const at::Tensor& out)
{
    const bool pinned = !out.device().is_cpu();
    const std::size_t nSamples = rows.rows.size();
    const std::size_t nNumbers = rows.numbers.size();
    const std::size_t bytes =
        static_cast<std::size_t>(rows.nRows)*rows.nColumns*out.element_size();

    const at::Tensor letter = grown(letter_, nSamples + nNumbers, at::kLong, pinned);
    auto* addresses = letter.mutable_data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < nSamples; ++i)
    {
        auto [there, isNew] = store_->placeOf(*rows.rows[i], bytes);
        if (isNew)
        {
            const at::Tensor here = grown(staging_, nSamples*bytes, at::kByte, pinned)
                .narrow(0, static_cast<std::int64_t>(i*bytes), static_cast<std::int64_t>(bytes));
            auto* to = static_cast<std::byte*>(here.mutable_data_ptr());
            const auto* from = static_cast<const std::byte*>(rows.rows[i]->get());
            forChunks(pool_, here.numel(), [&](std::int64_t first, std::int64_t last, int)
                { std::memcpy(to + first, from + first, last - first); }, bytesPerChunk);
            if (there.defined())
            {
                copies_->bring(there, here);
            }
            else
            {
                there = copies_->bring(here);
            }
        }
        addresses[i] = static_cast<std::int64_t>(
            reinterpret_cast<std::uintptr_t>(there.mutable_data_ptr()));
    }
    std::memcpy(addresses + nSamples, rows.numbers.data(), nNumbers*sizeof(double));
    const at::Tensor letterThere = copies_->bring(letter);

    RowScaling work;
    work.rows = letterThere.narrow(0, 0, static_cast<std::int64_t>(nSamples));
    work.numbers = letterThere.narrow(0, static_cast<std::int64_t>(nSamples),
        static_cast<std::int64_t>(nNumbers)).view(at::kDouble);
    if (rows.noise.defined())
    {
        work.noise = copies_->bring(rows.noise);
    }
    work.out = out;
    work.nColumns = rows.nColumns;
    work.nFeatures = rows.nFeatures;
    work.first = rows.first;
    queue_->put([library = library_, work] { library->scaleRows(work); });
}

}
