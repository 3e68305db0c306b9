// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/ResumedParts.hpp"

#include "base/agree.hpp"
#include "sample/slotState.hpp"

#include <algorithm>
#include <utility>

namespace inSitu
{
namespace
{

using Columns = SavedRows::Columns;


//- Values of snapshots or samples on their way to the ranks of their rows
class Brought
{
public:

    //- parts: saved values of the ranks that are read here, of count samples on any rank
    Brought(std::vector<StateTree> parts, std::size_t count, const SavedRows& rows,
        const Comm& comm)
    :
        parts_(std::move(parts)),
        rows_(rows),
        leftOut_(count, 0)
    {
        // An earlier mesh has other rows, or had them elsewhere
        together(comm, [&]
        {
            for (const StateTree& part : parts_)
            {
                std::vector<std::int64_t> meshes(count);
                part.get("mesh", Span<std::int64_t>(meshes));
                const auto known = MeshArchive::knownIn(part.subTree("meshes"));
                for (std::size_t i = 0; i < count; ++i)
                {
                    leftOut_[i] = leftOut_[i] || known.at(meshes[i]) != 0;
                }
            }
        });
        comm.max(Span<double>(leftOut_));
    }

    std::size_t nLeftOut() const
    {
        return static_cast<std::size_t>(std::count(leftOut_.begin(), leftOut_.end(), 1.0));
    }

    //- As of this rank, all on one mesh, which is the only one of the archive
    StateTree values(const std::vector<std::pair<std::string, Columns>>& kinds,
        const MeshArchive& meshes, const MeshState& present) const
    {
        StateTree values;
        std::vector<std::int64_t> numbers;
        for (std::size_t i = 0; i < leftOut_.size(); ++i)
        {
            numbers.push_back(leftOut_[i] > 0 ? -1 : 0);
            if (leftOut_[i] == 0)
            {
                for (const auto& [kind, columns] : kinds)
                {
                    const std::string name = kind + '/' + std::to_string(i);
                    values.putArray(name, rows_.move(parts_, name, columns));
                }
            }
        }
        values.put("mesh", numbers);
        values.putTree("meshes", meshes.save({present}));
        return values;
    }

private:

    std::vector<StateTree> parts_;
    const SavedRows& rows_;
    std::vector<double> leftOut_;       // 1: not on the mesh of the checkpoint's time
};


std::string ranksText(int n)
{
    return std::to_string(n) + (n == 1 ? " rank" : " ranks");
}


std::string whyLost(const SavedRows& rows, const Comm& comm)
{
    const std::string ranks = "the checkpoint was written on " + ranksText(rows.nRanks())
        + " and is read on " + std::to_string(comm.size());
    return rows.areOfAnotherMesh()
      ? ranks + ", on another mesh"
      : ranks + ", which have other rows, and nothing tells which row is which (that takes the"
            " lists of decomposePar, cellProcAddressing and faceProcAddressing, in both runs, for"
            " the topology that they ran on)";
}


//- From other ranks
void bring(ResumedParts& result, const Checkpoint& checkpoint, const SavedRows& rows,
    const SampleStream::Layout& layout, const MeshState& mesh,
    std::optional<std::size_t> nWaiting, std::size_t nQueued, std::optional<std::size_t> nSamples,
    const Comm& comm)
{
    const StateTree::Type type = realType(layout.precision);
    const Columns input{type, layout.input.nColumns, true};
    const Columns target{type, layout.target.nColumns, false};
    const Columns rawTarget{StateTree::Type::float64, layout.target.nColumns, false};
    if (layout.edges.nColumns() > 0)
    {
        result.losses.push_back(std::to_string(nSamples.value_or(0) + nQueued)
            + " samples and "
            + std::to_string(nWaiting.value_or(0)) + " inputs that waited for their target are"
            " dropped: values on edges are not brought to other rows");
        return;
    }
    const std::string why = ": they lie on an earlier state of the mesh, of which the values are"
        " not brought to other ranks";

    std::vector<StateTree> waiting, queued, samples;
    for (const RankPart& part : checkpoint.parts)
    {
        waiting.push_back(part.values.subTree("waiting"));
        queued.push_back(part.values.subTree("queue"));
        samples.push_back(part.replay.value_or(StateTree()));
    }

    MeshArchive named(mesh), whole;
    named.add(mesh);
    whole.add(mesh);
    if (nWaiting)
    {
        const Brought brought(std::move(waiting), *nWaiting, rows, comm);
        if (brought.nLeftOut() == 0)
        {
            result.part.putTree("waiting", brought.values({{"input", input},
                {"target", rawTarget}}, named, mesh));
        }
        else
        {
            result.losses.push_back("the " + std::to_string(*nWaiting)
                + " inputs that waited for their target are dropped" + why);
        }
    }
    const auto loseSamples = [&](const Brought& brought, std::size_t n, const std::string& kind)
    {
        if (brought.nLeftOut() > 0)
        {
            result.losses.push_back(std::to_string(brought.nLeftOut()) + " of "
                + std::to_string(n) + kind + " are dropped" + why);
        }
    };
    if (nQueued > 0)
    {
        const Brought brought(std::move(queued), nQueued, rows, comm);
        result.part.putTree("queue", brought.values(
            {{"input", input}, {"then", rawTarget}, {"now", rawTarget}}, whole, mesh));
        loseSamples(brought, nQueued, " samples that were to be learnt");
    }
    if (nSamples)
    {
        const Brought brought(std::move(samples), *nSamples, rows, comm);
        result.replay = brought.values({{"input", input}, {"target", target}}, whole, mesh);
        loseSamples(brought, *nSamples, " samples");
    }
    result.note = "saved on " + ranksText(rows.nRanks())
        + ": samples and waiting inputs go to the ranks that have their cells now";
}

}


ResumedParts ResumedParts::of
(
    const Checkpoint& checkpoint,
    const SavedRows& rows,
    const SampleStream::Layout& layout,
    const MeshState& mesh,
    bool continuous,
    const Comm& comm
)
{
    using Match = SavedRows::Match;

    const bool sameRanks = rows.nRanks() == comm.size();
    const auto count = [&](bool isThere, const char* name)
    {
        return isThere ? std::optional<std::size_t>(checkpoint.state.getArray(name).count())
            : std::nullopt;
    };
    const auto nWaiting = count(continuous, "loop/stream/pending/time");
    const auto nSamples = count(checkpoint.hasReplay, "loop/replay/id");
    const std::size_t nQueued = *count(true, "loop/queue/id");

    ResumedParts result;
    if (sameRanks)
    {
        // Samples bring their own meshes: they hold also where the rows are others now
        const RankPart& own = checkpoint.parts.front();
        result.replay = own.replay;
        result.part.putTree("queue", own.values.subTree("queue"));
        if (own.values.has("modelGenerator"))
        {
            result.part.putArray("modelGenerator", own.values.getArray("modelGenerator"));
        }
        if (continuous && rows.match() == Match::same)
        {
            result.part.putTree("waiting", own.values.subTree("waiting"));
        }
    }
    if (rows.match() == Match::elsewhere)
    {
        bring(result, checkpoint, rows, layout, mesh, nWaiting, nQueued, nSamples, comm);
    }
    if (rows.match() == Match::unknown)
    {
        const std::size_t nLost = sameRanks ? 0 : nSamples.value_or(0) + nQueued;
        const std::size_t nForgotten = nWaiting.value_or(0);
        if (nLost + nForgotten > 0)
        {
            result.losses.push_back(std::to_string(nLost) + " samples and "
                + std::to_string(nForgotten) + " inputs that waited for their target are dropped: "
                + whyLost(rows, comm));
        }
    }
    return result;
}

}
