// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituPredictorImpl.hpp"

#include "base/agree.hpp"
#include "infer/Rollout.hpp"
#include "io/Checkpoint.hpp"
#include "sample/SavedRows.hpp"

// What a rollout leaves for a restart

namespace inSitu
{

//- What a rollout is made of, to tell it from that of another model
std::string InSituPredictor::Impl::columns() const
{
    std::string text = join(columnNames(theCase.fields, theCase.inputs)) + ", "
        + join(columnNames(theCase.fields, theCase.targets));
    for (const std::string& column : columnNames(theCase.fields, theCase.edgeInputs))
    {
        text += ", " + column + " on edges";
    }
    return text;
}


void InSituPredictor::write(const std::string& folder)
{
    Impl& my = *impl_;
    if (!my.rollout->begun())
    {
        return;
    }
    const MeshState& mesh = my.mesh.state;
    StateTree state;
    state.putText("columns", my.columns());
    state.putTree("topology", TopologyMark::of(mesh, *mesh.names(), *my.comm).save());
    state.putTree("rollout", my.rollout->save());
    try
    {
        RankPart part;
        together(*my.comm, [&]
        {
            part.values.putTree("rows", SavedRows::save(mesh));
            part.values.putTree("rollout", my.rollout->saveValues());
        });
        writeCheckpoint(folder, state, part, *my.comm);
    }
    catch (const AgreedError& fault)
    {
        my.warn("a restart cannot go on with the rollout: " + std::string(fault.what()));
    }
}


//- The values of this rank, from wherever they were saved; collective
StateTree InSituPredictor::Impl::rolloutValues(const Checkpoint& checkpoint) const
{
    if (checkpoint.nRanks == 0)
    {
        throw AgreedError("it is of another version of inSituFoam");
    }
    std::vector<StateTree> rowsOfParts, parts;
    for (const RankPart& part : checkpoint.parts)
    {
        rowsOfParts.push_back(part.values.subTree("rows"));
        parts.push_back(part.values.subTree("rollout"));
    }
    const SavedRows rows(rowsOfParts, checkpoint.nRanks,
        TopologyMark::load(checkpoint.state.subTree("topology")), mesh.state, *comm);
    if (rows.match() == SavedRows::Match::same)
    {
        return parts.front();
    }

    double elsewhere = 0;
    for (const StateTree& part : parts)
    {
        elsewhere += MeshArchive::knownIn(part.subTree("meshes")).at(0) != 0;
    }
    if (rows.areOfAnotherMesh())
    {
        throw AgreedError("its mesh is another one");
    }
    if (!theCase.edgeInputs.empty())
    {
        throw AgreedError("values on edges are not brought to other rows");
    }
    if (rows.match() == SavedRows::Match::unknown || anyRank(*comm, elsewhere > 0))
    {
        throw AgreedError("it was saved on " + std::to_string(checkpoint.nRanks)
            + " ranks with other rows, and values on a mesh that has moved or changed, or without"
              " the lists of decomposePar, are not brought to other ranks");
    }
    constexpr auto type = StateTree::Type::float64;
    StateTree values;
    values.putArray("start", rows.move(parts, "start", {type, rollout->nTargetColumns(), false}));
    values.putArray("state", rows.move(parts, "state", {type, rollout->nTargetColumns(), false}));
    values.putArray("input", rows.move(parts, "input", {type, rollout->nInputColumns(), true}));
    values.put("edges", std::vector<double>());
    MeshArchive meshes(mesh.state);
    meshes.add(mesh.state);
    values.putTree("meshes", meshes.save({mesh.state}));
    return values;
}


void InSituPredictor::resume(const std::string& folder)
{
    Impl& my = *impl_;
    try
    {
        const Checkpoint checkpoint = readCheckpoint(folder, *my.comm);
        const std::string columns = checkpoint.state.getText("columns");
        if (columns != my.columns())
        {
            throw AgreedError("its columns are " + columns + ", those of the model "
                + my.columns());
        }
        const StateTree values = my.rolloutValues(checkpoint);
        together(*my.comm, [&] { my.rollout->load(checkpoint.state.subTree("rollout"), values); });
    }
    catch (const Error& fault)
    {
        throw Error("the rollout in " + folder + " cannot go on: " + fault.what()
            + ". It starts anew without that folder");
    }
    my.info("the rollout goes on from its step " + std::to_string(my.rollout->step()));
}

}
