// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/TrainerImpl.hpp"

#include "model/TensorState.hpp"

// What a checkpoint keeps of a trainer

namespace inSitu
{

StateTree Trainer::save() const
{
    StateTree state;
    impl_->whereItIs([self = impl_.get(), &state] { self->save(state); });
    return state;
}


void Trainer::Impl::save(StateTree& state) const
{
    state.putInt("nSteps", nSteps);
    state.putInt("nUpdates", nUpdates);
    state.putTree("model", saveTensors(model->namedTensors()));
    state.putText("optimizerType", optimizerType);
    state.putTree("optimizer", queue ? steps->optimizer().save() : optimizer->save());
    state.putText("scheduleType", scheduleType);
    state.putTree("schedule", schedule->save());
    state.putTree("accumulated", queue ? steps->saveAccumulated() : accumulated.save());
    state.putDouble("lossSum", queue ? steps->lossSum() : lossSum);
    state.putInt("noise/seed", static_cast<std::int64_t>(noise.state().seed));
    state.putInt("noise/draws", noise.state().nDraws);
    state.putTree("best", best.save(*model));
    if (const auto scaler = queue ? steps->saveScaler() : std::nullopt)
    {
        state.putTree("gradScaler", *scaler);
    }

    const std::vector<std::uint8_t> modelGenerator = model->generatorState();
    if (!modelGenerator.empty())
    {
        state.put("modelGenerator", modelGenerator);
    }
}


std::vector<std::string> Trainer::load(const StateTree& state)
{
    std::vector<std::string> notes;
    impl_->whereItIs([self = impl_.get(), &state, &notes] { notes = self->load(state); });
    return notes;
}


std::vector<std::string> Trainer::Impl::load(const StateTree& state)
{
    std::vector<std::string> notes;

    const std::vector<at::Tensor> tensors =
        readTensors(state.subTree("model"), model->namedTensors());
    BestWeights savedBest = BestWeights::from(state.subTree("best"), *model);
    GradientBuffer savedGradients =
        GradientBuffer::from(state.subTree("accumulated"), parameters);
    const double savedLoss = state.getDouble("lossSum");
    const std::int64_t savedSteps = state.getInt("nSteps");
    const std::int64_t savedUpdates = state.getInt("nUpdates");

    if (state.getText("optimizerType") == optimizerType)
    {
        Optimizer& present = queue ? steps->optimizer() : *optimizer;
        present.load(state.subTree("optimizer"));
    }
    else
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
    nWaiting = savedGradients.count();
    if (queue)
    {
        steps->load(state.subTree("accumulated"), savedLoss, state.subTree("gradScaler"));
    }
    else
    {
        accumulated = std::move(savedGradients);
        lossSum = savedLoss;
    }
    nSteps = savedSteps;
    nUpdates = savedUpdates;
    noise.setState({static_cast<std::uint64_t>(state.getInt("noise/seed")),
        state.getInt("noise/draws")});
    if (state.has("modelGenerator"))
    {
        model->setGeneratorState(state.get<std::uint8_t>("modelGenerator"));
    }
    return notes;
}

}
