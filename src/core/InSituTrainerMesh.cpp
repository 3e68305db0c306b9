// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituTrainerImpl.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"

// What follows the mesh, and what waits on it

namespace inSitu
{

std::size_t InSituTrainer::nInputColumns() const
{
    return columnNames(impl_->theCase.fields, impl_->theCase.inputs).size();
}


std::size_t InSituTrainer::nTargetColumns() const
{
    return columnNames(impl_->theCase.fields, impl_->theCase.targets).size();
}


void InSituTrainer::setGeometry(CaseMesh mesh)
{
    Impl& my = *impl_;
    my.mesh = my.group->unite(std::move(mesh));
    my.lead([&my] { my.loop->setGeometry(my.mesh); });
}


std::size_t InSituTrainer::nPending() const
{
    const Impl& my = *impl_;
    return my.loop ? my.loop->stream().pending().size() : my.pendingThere.size();
}


std::int64_t InSituTrainer::pendingTimeIndex(std::size_t i) const
{
    const Impl& my = *impl_;
    return my.loop ? my.loop->stream().pending()[i].timeIndex : my.pendingThere[i];
}


void InSituTrainer::getPending(std::size_t i, Pending& pending) const
{
    Impl& my = *impl_;
    pending.timeIndex = pendingTimeIndex(i);
    if (my.loop)
    {
        my.loop->stream().getPending(i, pending);
    }
    my.group->part(pending, nInputColumns(), nTargetColumns());
}


void InSituTrainer::setTopology(CaseMesh mesh, const std::vector<Pending>& pending)
{
    Impl& my = *impl_;
    my.mesh = my.group->unite(std::move(mesh));
    std::vector<Pending> waiting;
    if (!anyRank(*my.all, pending.size() != nPending()))
    {
        waiting = my.group->unite(pending, nInputColumns(), nTargetColumns());
    }
    my.lead([&]
    {
        std::vector<PendingInputs::Values> values;
        for (const Pending& input : waiting)
        {
            values.push_back({Span<const double>(input.input), Span<const double>(input.target)});
        }
        my.loop->setTopology(my.mesh, values);
    });
}


void InSituTrainer::check()
{
    Impl& my = *impl_;
    ++my.nChecks;
    my.group->check();
    my.lead([&my]
    {
        const LearningLoop::Hold hold = my.loop->hold();
        const std::string text = my.loop->trainer().firstStaleEntry();
        if (!text.empty())
        {
            throw Error("selfCheck: a cache is stale: " + text);
        }
    });
}


void InSituTrainer::gap()
{
    if (impl_->loop)
    {
        impl_->loop->drop();
    }
    impl_->pendingThere.clear();
}

}
