// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Runtime.hpp"
#include "graph/MeshGraph.hpp"

#include <memory>
#include <vector>

namespace inSitu
{
namespace device
{

//- Graphs on the device. The last ones are kept, so that steady state copies none.
class DeviceGraphs
{
public:

    explicit DeviceGraphs(const at::Device& device)
    :
        device_(device)
    {}

    //- Valid until graphs of other meshes have pushed it out
    GraphView of(const std::shared_ptr<const MeshGraph>& graph, long nSamples);

private:

    struct Entry
    {
        std::shared_ptr<const MeshGraph> graph;     // held so that its address is not met again
        at::Tensor start, senders, receivers, senderStart, senderEdge, sent, haloEdge;
    };

    static constexpr std::size_t maxEntries = 8;

    at::Device device_;
    std::vector<Entry> entries_;    // the one in use comes first
};

}
}
