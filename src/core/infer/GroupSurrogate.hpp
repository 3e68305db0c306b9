// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "group/RankGroup.hpp"
#include "infer/Surrogate.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace inSitu
{

//- A network that works on some ranks for all: samples of the members of a group go through shared
//  memory to its trainer, which predicts on the united mesh, and the results come back. All ranks
//  call alike.
class GroupSurrogate final : public Surrogate
{
public:

    //- network: that of this rank, of use on ranks that train; group: shared, nothing else uses it
    GroupSurrogate(std::unique_ptr<Surrogate> network, std::shared_ptr<RankGroup> group);

    //- One trainer has no neighbours
    bool handlesHalo() const override;
    std::int64_t nParameters() const override { return network_->nParameters(); }
    void predict(const Sample& sample, Span<double> prediction) override;
    void update(const Model& network, SurrogateScales scales, ModelCard card) override;
    std::string firstStaleEntry() const override;

private:

    template<class Value>
    void predictAs(const Sample& sample, Span<double> prediction);

    std::unique_ptr<Surrogate> network_;
    std::shared_ptr<RankGroup> group_;
    bool alone_;
    Sample united_;
    std::optional<SlotPool> inputs_;
    std::optional<SlotPool> edges_;
    std::vector<double> predicted_;
};

}
