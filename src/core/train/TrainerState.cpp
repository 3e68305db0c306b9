// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/TrainerImpl.hpp"

// What a checkpoint keeps of a trainer

namespace inSitu
{

StateTree Trainer::save() const
{
    StateTree state;
    impl_->reach([self = impl_.get(), &state] { self->save(state); });
    return state;
}


void Trainer::Impl::save(StateTree& state) const
{
    state.putInt("nSteps", nSteps);
    state.putInt("nUpdates", nUpdates);
    state.putTree("model", saveTensors(model->namedTensors()));
    state.putText("optimizerType", optimizerType);
    state.putText("scheduleType", scheduleType);
    state.putTree("schedule", schedule->save());
    state.putInt("noise/seed", static_cast<std::int64_t>(batches.noiseState().seed));
    state.putInt("noise/draws", batches.noiseState().nDraws);
    state.putTree("best", best.save(*model));
    steps->save(state);

    const std::vector<std::uint8_t> modelGenerator = model->generatorState();
    if (!modelGenerator.empty())
    {
        state.put("modelGenerator", modelGenerator);
    }
}


std::vector<std::string> Trainer::load(const StateTree& state)
{
    std::vector<std::string> notes;
    impl_->reach([self = impl_.get(), &state, &notes] { notes = self->load(state); });
    return notes;
}


std::vector<std::string> Trainer::Impl::load(const StateTree& state)
{
    std::vector<std::string> notes;

    const std::vector<at::Tensor> tensors =
        readTensors(state.subTree("model"), model->namedTensors());
    BestWeights savedBest = BestWeights::from(state.subTree("best"), *model);
    const std::int64_t savedSteps = state.getInt("nSteps");
    const std::int64_t savedUpdates = state.getInt("nUpdates");

    const bool sameOptimizer = state.getText("optimizerType") == optimizerType;
    steps->load(state, sameOptimizer);
    if (!sameOptimizer)
    {
        notes.push_back("the optimiser starts afresh: it was " + state.getText("optimizerType")
            + " and is " + optimizerType + " now");
    }
    if (state.getText("scheduleType") == scheduleType)
    {
        schedule->load(state.subTree("schedule"));
    }
    else
    {
        notes.push_back("the schedule has no history: it was " + state.getText("scheduleType")
            + " and is " + scheduleType + " now");
    }

    restoreTensors(*model, tensors);
    best = std::move(savedBest);
    nSteps = savedSteps;
    nUpdates = savedUpdates;
    batches.setNoiseState({static_cast<std::uint64_t>(state.getInt("noise/seed")),
        state.getInt("noise/draws")});
    if (state.has("modelGenerator"))
    {
        model->setGeneratorState(state.get<std::uint8_t>("modelGenerator"));
    }
    return notes;
}

}
