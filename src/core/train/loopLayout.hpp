// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "sample/Normaliser.hpp"
#include "sample/ReplayBuffer.hpp"
#include "sample/SampleStream.hpp"
#include "sample/TrainingCase.hpp"
#include "train/Settings.hpp"
#include "train/Trainer.hpp"

#include <cstddef>
#include <memory>

namespace inSitu
{

// What configuration and case say of the parts of a LearningLoop

SampleStream::Layout streamLayout(const Settings& settings, const TrainingCase& theCase);

Normaliser::Layout scalesLayout(const SampleStream::Layout& stream, const TrainingCase& theCase);

//- limits: of the buffer, which fills with samples of the mesh that stream has now
TrainerLayout trainerLayout(const Settings& settings, const TrainingCase& theCase,
    const SampleStream& stream, const ReplayBuffer::Limits& limits, CountBuild count,
    std::function<void(const std::string&)> note, std::shared_ptr<DeviceLibrary> devices);

//- The ranks for what learns: with `mode async` for a thread of its own. Collective. Throws Error
//  if they cannot work with two threads.
std::shared_ptr<Comm> commOfLearner(const Settings& settings, const std::shared_ptr<Comm>& comm);

//- Bytes that all samples may take: maxMemory, or a tenth of the node's memory
std::size_t allowedMemory(const Settings& settings, const Comm& comm);

//- Mean edge and mean cell of a mesh, over all ranks (collective); 1 without any edge or cell
MeshScales meshScales(const MeshState& mesh, const Comm& comm);

}
