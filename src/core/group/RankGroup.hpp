// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "group/SharedFields.hpp"
#include "group/UnitedMesh.hpp"
#include "sample/PendingAccess.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- What this rank is in a run of which some ranks train and others hand over what they have. Where
//  all train, nothing is sent and everything stays as it is. For a network that only predicts, to
//  train is to have it at work. Nothing is collective but what says so: over all ranks, or over
//  those of a group.
class RankGroup
{
public:

    //- As TrainerMap::of(). Collective over all unless trainersPerNode is 0.
    RankGroup(std::shared_ptr<Comm> all, std::int64_t trainersPerNode);

    //- Some ranks of the run do not train
    bool isShared() const { return shared_; }

    bool trains() const { return trainers_ != nullptr; }

    int nTrainers() const { return nTrainers_; }

    //- Ranks of the group of this one, itself included
    int nMembers() const { return group_ ? group_->size() : 1; }

    //- The ranks that train; null on others
    const std::shared_ptr<Comm>& trainers() const { return trainers_; }

    //- For the log: where the network is at work; empty where all do and that was wanted
    const std::string& text() const { return text_; }

    //- What the group shares at each time: fields of so many components, and results per cell. The
    //  mesh has to be given again behind this.
    void setFields(const std::vector<int>& nComponents, int resultColumns);

    //- On trainers the mesh of the group, elsewhere nothing of use. Collective over all. Throws
    //  Error for a mesh with sliding interfaces.
    CaseMesh unite(CaseMesh mesh);

    //- Throws Error if the mesh of a group is not what its members have given. Collective over all.
    void check();

    //- On trainers the fields of the group, elsewhere nothing of use; valid until the next call.
    //  Collective in the group. Throws Error if the sizes are not those of the mesh.
    template<class Scalar>
    const std::vector<FieldView<Scalar>>& unite(const std::vector<FieldView<Scalar>>& views);

    //- On trainers values that wait on the rows of the group, of these columns. All members have as
    //  many. Collective in the group.
    std::vector<PendingAccess::Pending> unite(std::vector<PendingAccess::Pending> pending,
        std::size_t inputColumns, std::size_t targetColumns);

    //- Each member's rows of what its trainer has. Collective in the group.
    void part(PendingAccess::Pending& pending, std::size_t inputColumns,
        std::size_t targetColumns);

    //- Results of the cells here, of those of the group, or nothing, on its trainer; valid until
    //  the next unite(). Collective in the group.
    Span<const double> part(Span<const double> results);

    //- On trainers: values on the edges of one member after the other as those of the group's edges
    template<class Value>
    std::vector<Value> edges(Span<const Value> values, std::size_t width) const
    {
        return mesh_->rows().edges(values, width);
    }

    //- Done on trainers, while the others wait; returns on all ranks what their trainer does.
    //  Collective in the group; body may be so among the trainers.
    Comm::Bytes lead(const std::function<Comm::Bytes()>& body);

    //- Of the memory that the group shares
    std::size_t sharedBytes() const { return fields_ ? fields_->bytes() : 0; }

private:

    std::shared_ptr<Comm> all_;
    bool shared_ = false;
    std::shared_ptr<Comm> trainers_;
    std::shared_ptr<Comm> group_;           // if shared
    std::optional<UnitedMesh> mesh_;
    std::optional<SharedFields> fields_;
    bool fieldsAreNew_ = false;
    int nTrainers_;
    std::string text_;
};

}
