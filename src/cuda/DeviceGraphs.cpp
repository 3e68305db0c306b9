// SPDX-License-Identifier: GPL-3.0-or-later
#include "DeviceGraphs.hpp"

#include <algorithm>

namespace inSitu
{
namespace device
{

GraphView DeviceGraphs::of(const std::shared_ptr<const MeshGraph>& graph, long nSamples)
{
    const auto found = std::find_if(entries_.begin(), entries_.end(),
        [&](const Entry& entry) { return entry.graph == graph; });
    if (found != entries_.end())
    {
        std::rotate(entries_.begin(), found, found + 1);
    }
    else
    {
        const auto there = [&](Span<const std::int32_t> values)
            { return uploaded(values.data(), values.size(), device_); };
        if (entries_.size() == maxEntries)
        {
            entries_.pop_back();
            ++memoryStamp();
        }
        entries_.insert(entries_.begin(), Entry{graph, there(graph->receiverStart()),
            there(graph->senders()), there(graph->receivers()), there(graph->senderStart()),
            there(graph->senderEdge()),
            there(graph->halo() ? Span<const std::int32_t>(graph->halo()->cells)
                : Span<const std::int32_t>()),
            there(graph->haloEdge())});
    }

    const auto data = [](const at::Tensor& tensor)
        { return static_cast<const std::int32_t*>(tensor.const_data_ptr()); };
    const Entry& entry = entries_.front();
    return {graph->nNodes(), graph->nEdges(), static_cast<int>(nSamples), data(entry.start),
        data(entry.senders), data(entry.receivers), data(entry.senderStart),
        data(entry.senderEdge), graph->nHalo(), graph->halo() ? graph->halo()->nSent() : 0,
        data(entry.sent), data(entry.haloEdge)};
}

}
}
