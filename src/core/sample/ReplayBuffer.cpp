// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/ReplayBuffer.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"
#include "base/below.hpp"
#include "sample/MeshArchive.hpp"
#include "sample/slotState.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

namespace inSitu
{
namespace
{

template<class T>
std::size_t bytesIn(const std::vector<T>& values)
{
    return values.size()*sizeof(T);
}


//- Call with address and bytes of each part of a mesh
template<class Body>
void forParts(const MeshState& mesh, const Body& body)
{
    if (mesh.graph)
    {
        body(mesh.graph.get(), mesh.graph->bytes());
    }
    if (mesh.geometry)
    {
        body(mesh.geometry.get(), mesh.geometry->bytes());
    }
    if (mesh.staticFeatures)
    {
        body(mesh.staticFeatures.get(), bytesIn(*mesh.staticFeatures));
    }
    if (mesh.cellMask)
    {
        body(mesh.cellMask.get(), bytesIn(*mesh.cellMask));
    }
    if (mesh.ids)
    {
        body(mesh.ids.get(), mesh.ids->bytes());
    }
}

}


SampleMemory::SampleMemory
(
    std::size_t bytesPerRow,
    std::size_t bytesPerCell,
    std::size_t bytesPerEdge
)
:
    bytesPerRow_(bytesPerRow),
    bytesPerCell_(bytesPerCell),
    bytesPerEdge_(bytesPerEdge)
{}


std::size_t SampleMemory::values(const Sample& sample) const
{
    const MeshGraph& graph = *sample.mesh.graph;
    return graph.nNodes()*bytesPerRow_ + graph.nCells()*bytesPerCell_
        + graph.nEdges()*bytesPerEdge_;
}


void SampleMemory::add(const Sample& sample)
{
    bytes_ += bytesOf(sample);
    forParts(sample.mesh, [this](const void* part, std::size_t) { ++users_[part]; });
}


void SampleMemory::remove(const Sample& sample)
{
    bytes_ -= values(sample);
    forParts(sample.mesh, [this](const void* part, std::size_t bytes)
    {
        const auto users = users_.find(part);
        if (--users->second == 0)
        {
            users_.erase(users);
            bytes_ -= bytes;
        }
    });
}


std::size_t SampleMemory::bytesOf(const Sample& sample) const
{
    std::size_t sum = values(sample);
    forParts(sample.mesh, [&](const void* part, std::size_t bytes)
        { sum += users_.count(part) ? 0 : bytes; });
    return sum;
}


ReplayBuffer::ReplayBuffer
(
    Limits limits,
    Policy policy,
    std::uint64_t seed,
    int nInputColumns,
    int nTargetColumns,
    Precision precision,
    std::shared_ptr<const Comm> comm,
    int nEdgeColumns
)
:
    comm_(std::move(comm)),
    limits_(limits),
    policy_(policy),
    nInputColumns_(nInputColumns),
    nTargetColumns_(nTargetColumns),
    nEdgeColumns_(nEdgeColumns),
    precision_(precision),
    generator_(seed),
    memory_
    (
        static_cast<std::size_t>(nInputColumns)*bytesOf(precision),
        static_cast<std::size_t>(nTargetColumns)*bytesOf(precision),
        static_cast<std::size_t>(nEdgeColumns)*bytesOf(precision)
    )
{
    if (limits.capacity == 0)
    {
        throw Error("a replay buffer of capacity 0 holds nothing to draw from");
    }
}


std::size_t ReplayBuffer::below(std::size_t n)
{
    return static_cast<std::size_t>(inSitu::below(generator_, n));
}


bool ReplayBuffer::hasRoomFor(const Sample& sample) const
{
    return samples_.empty()
        || (samples_.size() < limits_.capacity
            && !anyRank(*comm_, memory_.bytes() + memory_.bytesOf(sample) > limits_.memory));
}


bool ReplayBuffer::isTooLarge() const
{
    return samples_.size() > 1 && anyRank(*comm_, memory_.bytes() > limits_.memory);
}


void ReplayBuffer::remove(std::size_t place)
{
    memory_.remove(samples_[place]);
    if (policy_ == Policy::fifo)
    {
        samples_.erase(samples_.begin() + static_cast<std::ptrdiff_t>(place));
    }
    else
    {
        samples_[place] = std::move(samples_.back());
        samples_.pop_back();
    }
}


void ReplayBuffer::add(Sample sample)
{
    ++nSeen_;
    if (policy_ == Policy::fifo)
    {
        while (!hasRoomFor(sample))
        {
            remove(0);
        }
    }
    else if (!hasRoomFor(sample))
    {
        const std::size_t place = below(static_cast<std::size_t>(nSeen_));
        if (place >= samples_.size())
        {
            return;
        }
        memory_.remove(samples_[place]);
        memory_.add(sample);
        std::swap(samples_[place], sample);

        while (isTooLarge())
        {
            remove(below(samples_.size()));
        }
        return;
    }
    memory_.add(sample);
    samples_.push_back(std::move(sample));
}


std::vector<Sample> ReplayBuffer::draw(int n)
{
    if (samples_.empty())
    {
        throw Error("nothing can be drawn from an empty replay buffer");
    }
    std::vector<Sample> drawn;
    drawn.reserve(n);
    for (int i = 0; i < n; ++i)
    {
        drawn.push_back(samples_[below(samples_.size())]);
    }
    return drawn;
}


StateTree ReplayBuffer::saveState() const
{
    std::vector<std::int64_t> ids;
    std::vector<double> times, features;
    for (const Sample& sample : samples_)
    {
        ids.push_back(sample.id);
        times.push_back(sample.time);
        features.insert(features.end(), sample.features.begin(), sample.features.end());
    }
    std::ostringstream generator;
    generator << generator_;

    StateTree state;
    state.put("id", ids);
    state.put("time", times);
    state.put("features", features);
    state.putInt("nSeen", nSeen_);
    state.putText("generator", generator.str());
    return state;
}


StateTree ReplayBuffer::saveValues(const std::vector<MeshState>& known) const
{
    StateTree values;
    MeshArchive meshes;
    std::vector<std::int64_t> meshNumbers;
    for (std::size_t i = 0; i < samples_.size(); ++i)
    {
        const Sample& sample = samples_[i];
        const MeshGraph& graph = *sample.mesh.graph;
        const std::string name = std::to_string(i);
        values.putArray("input/" + name,
            slotArray(sample.input, realType(precision_), graph.nNodes(), nInputColumns_));
        values.putArray("target/" + name,
            slotArray(sample.target, realType(precision_), graph.nCells(), nTargetColumns_));
        if (nEdgeColumns_ > 0)
        {
            values.putArray("edges/" + name,
                slotArray(sample.edges, realType(precision_), graph.nEdges(), nEdgeColumns_));
        }
        meshNumbers.push_back(meshes.add(sample.mesh));
    }
    values.put("mesh", meshNumbers);
    values.putTree("meshes", meshes.save(known));
    return values;
}


void ReplayBuffer::load
(
    const StateTree& state,
    const StateTree* values,
    const std::vector<MeshState>& known
)
{
    ReplayBuffer loaded(limits_, policy_, 0, nInputColumns_, nTargetColumns_, precision_,
        comm_, nEdgeColumns_);
    loaded.nSeen_ = state.getInt("nSeen");
    std::istringstream generator(state.getText("generator"));
    if (!(generator >> loaded.generator_))
    {
        throw Error("the saved state of the replay buffer's generator cannot be read");
    }

    if (values)
    {
        const std::vector<std::int64_t> ids = state.get<std::int64_t>("id");
        const std::vector<double> features = state.get<double>("features");
        const std::size_t nFeatures = ids.empty() ? 0 : features.size()/ids.size();
        std::vector<double> times(ids.size());
        std::vector<std::int64_t> meshNumbers(ids.size());
        state.get("time", Span<double>(times));
        values->get("mesh", Span<std::int64_t>(meshNumbers));
        const MeshArchive meshes = MeshArchive::load(values->subTree("meshes"), {}, known);

        std::vector<std::size_t> kept;
        for (std::size_t i = 0; i < ids.size(); ++i)
        {
            if (meshNumbers[i] >= 0)
            {
                kept.push_back(i);
            }
        }
        const std::size_t capacity = limits_.capacity;
        if (kept.size() > capacity && policy_ == Policy::fifo)
        {
            kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(capacity));
        }
        else if (kept.size() > capacity)
        {
            for (std::size_t i = 0; i < capacity; ++i)
            {
                std::swap(kept[i], kept[i + loaded.below(kept.size() - i)]);
            }
            kept.resize(capacity);
        }

        // A pool per size of a mesh
        std::map<std::size_t, SlotPool> pools;
        const auto read = [&](const std::string& name, std::int64_t nRows, int nColumns)
        {
            const std::size_t bytes =
                static_cast<std::size_t>(nRows)*nColumns*bytesOf(precision_);
            return slotFrom(*values, name, realType(precision_),
                pools.try_emplace(bytes, bytes).first->second);
        };
        for (const std::size_t i : kept)
        {
            const std::string name = std::to_string(i);
            Sample sample;
            sample.id = ids[i];
            sample.time = times[i];
            sample.mesh = meshes.at(meshNumbers[i]);
            sample.input = read("input/" + name, sample.mesh.graph->nNodes(), nInputColumns_);
            sample.target = read("target/" + name, sample.mesh.graph->nCells(), nTargetColumns_);
            if (nEdgeColumns_ > 0)
            {
                sample.edges = read("edges/" + name, sample.mesh.graph->nEdges(), nEdgeColumns_);
            }
            const auto first = features.begin() + static_cast<std::ptrdiff_t>(i*nFeatures);
            sample.features.assign(first, first + static_cast<std::ptrdiff_t>(nFeatures));
            loaded.memory_.add(sample);
            loaded.samples_.push_back(std::move(sample));
        }
    }
    *this = std::move(loaded);
}

}
