// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituTrainerImpl.hpp"

#include "base/Error.hpp"

// What follows the mesh, and what waits on it

namespace inSitu
{

std::size_t InSituTrainer::Impl::nInputColumns() const
{
    return columnNames(theCase.fields, theCase.inputs).size();
}


std::size_t InSituTrainer::Impl::nTargetColumns() const
{
    return columnNames(theCase.fields, theCase.targets).size();
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
    return my.loop ? my.loop->stream().pending().size() : my.news.pending.size();
}


std::int64_t InSituTrainer::pendingTimeIndex(std::size_t i) const
{
    const Impl& my = *impl_;
    return my.loop ? my.loop->stream().pending()[i].timeIndex : my.news.pending[i];
}


void InSituTrainer::getPending(std::size_t i, Pending& pending) const
{
    Impl& my = *impl_;
    pending.timeIndex = pendingTimeIndex(i);
    if (my.loop)
    {
        my.loop->stream().getPending(i, pending);
    }
    my.group->part(pending, my.nInputColumns(), my.nTargetColumns());
}


void InSituTrainer::setTopology(CaseMesh mesh, const std::vector<Pending>& pending)
{
    Impl& my = *impl_;
    my.mesh = my.group->unite(std::move(mesh));
    std::vector<Pending> ofGroup;
    if (my.group->isShared())
    {
        ofGroup =
            my.group->unite(pending, nPending(), my.nInputColumns(), my.nTargetColumns());
    }
    my.lead([&]
    {
        std::vector<PendingInputs::Values> values;
        for (const Pending& input : my.group->isShared() ? ofGroup : pending)
        {
            values.push_back({Span<const double>(input.input), Span<const double>(input.target)});
        }
        if (values.size() != nPending())
        {
            values.clear();
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
    impl_->news.pending.clear();
}

}
