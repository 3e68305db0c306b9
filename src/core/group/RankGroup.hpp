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
//  all train, nothing is sent and everything stays as it is. All calls are collective, over all
//  ranks or over the trainers and their groups.
class RankGroup
{
public:

    //- As TrainerMap::of()
    RankGroup(std::shared_ptr<Comm> all, std::int64_t trainersPerNode);

    //- Some ranks of the run do not train
    bool isShared() const { return shared_; }

    bool trains() const { return trainers_ != nullptr; }

    int nTrainers() const { return nTrainers_; }

    //- The ranks that train; null on others
    const std::shared_ptr<Comm>& trainers() const { return trainers_; }

    //- For the log: who trains; empty where all do and that was wanted
    const std::string& text() const { return text_; }

    //- What the group shares at each time: fields, and results per cell
    void setFields(const std::vector<FieldSpec>& fields, int resultColumns);

    //- On trainers the mesh of the group, elsewhere nothing of use
    CaseMesh unite(CaseMesh mesh);

    //- Throws Error if the mesh of a group is not what its members have given
    void check();

    //- On trainers the fields of the group, elsewhere nothing of use; valid until the next call
    template<class Scalar>
    const std::vector<FieldView<Scalar>>& unite(const std::vector<FieldView<Scalar>>& views);

    //- On trainers values that wait on the rows of the group: number of them, of these columns.
    //  Nothing if one of the members has them not.
    std::vector<PendingAccess::Pending> unite(std::vector<PendingAccess::Pending> pending,
        std::size_t number, std::size_t inputColumns, std::size_t targetColumns);

    //- Each member's rows of what its trainer has
    void part(PendingAccess::Pending& pending, std::size_t inputColumns,
        std::size_t targetColumns);

    //- Results of the cells here, of those of the group, or nothing, on its trainer; valid until
    //  the next unite()
    Span<const double> part(Span<const double> results);

    //- On trainers: values on the edges of one member after the other as those of the group's edges
    template<class Value>
    std::vector<Value> edges(Span<const Value> values, std::size_t width) const
    {
        return mesh_->rows().edges(values, width);
    }

    //- Done on trainers, while the others wait; returns on all ranks what the trainer does
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
