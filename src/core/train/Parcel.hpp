// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"
#include "sample/SampleStream.hpp"
#include "train/Learner.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace inSitu
{

//- What an execution hands over to the learner: a completed sample, or the question how it goes
struct Parcel
{
    std::optional<PendingInputs::Completed> sample;
    std::int64_t watermark = 1;                     //!< of the execution, for the sample
    std::optional<Learner::ReportTime> report;
};

//- Parcels that wait, oldest first: what is the same on all ranks. The counts of what was left out,
//  which no checkpoint has, are not kept.
StateTree saveParcels(const std::vector<const Parcel*>& parcels);

//- Of this rank: values and meshes, sharing memory with them. known: meshes that they may share.
StateTree saveParcelValues(const std::vector<const Parcel*>& parcels,
    const SampleStream::Layout& layout, const std::vector<MeshState>& known);

//- Without values, the questions alone. known: as for saveParcelValues(), what was shared is shared
//  again. A sample whose mesh has the number -1 was left out. Throws Error if an entry is missing
//  or does not fit its mesh.
std::vector<Parcel> loadParcels(const StateTree& state, const StateTree& values,
    const SampleStream::Layout& layout, std::int64_t watermark,
    const std::vector<MeshState>& known);

}
