// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/SavedRows.hpp"

#include "base/agree.hpp"

#include <cstdint>
#include <memory>

namespace inSitu
{

StateTree SavedRows::save(const MeshState& mesh)
{
    StateTree state;
    state.putTree("ids", mesh.names()->save());
    state.putInt("topology", topologyChecksum(mesh));
    state.put("centres", mesh.geometry->centres);
    return state;
}


SavedRows::SavedRows
(
    std::vector<StateTree> parts,
    int nRanks,
    const TopologyMark& mark,
    const MeshState& mesh,
    const Comm& comm
)
:
    comm_(comm),
    nRanks_(nRanks),
    parts_(std::move(parts))
{
    const std::shared_ptr<const RowIds> ids = mesh.names();
    RowIds given;
    bool same = nRanks == comm.size();
    together(comm, [&]
    {
        for (const StateTree& part : parts_)
        {
            const RowIds saved = RowIds::load(part.subTree("ids"));
            same = same && saved == *ids && part.getInt("topology") == topologyChecksum(mesh);
            given.cells.insert(given.cells.end(), saved.cells.begin(), saved.cells.end());
            given.faces.insert(given.faces.end(), saved.faces.begin(), saved.faces.end());

            nCells_.push_back(saved.cells.size());
            nRows_.push_back(saved.cells.size() + saved.faces.size());
        }
    });
    if (!anyRank(comm, !same))
    {
        match_ = Match::same;
        return;
    }

    const TopologyMark now = TopologyMark::of(mesh, *ids, comm);
    if (!now.isComparable(mark))
    {
        return;
    }
    differ_ = !now.isSame(mark);
    if (!differ_)
    {
        cells_.emplace(given.cells, ids->cells, comm);
        faces_.emplace(given.faces, ids->faces, comm);
        differ_ = !cells_->complete() || !faces_->complete();
        match_ = differ_ ? Match::unknown : Match::elsewhere;
    }
}


std::optional<std::vector<double>> SavedRows::centres() const
{
    if (match_ == Match::unknown)
    {
        return std::nullopt;
    }
    if (match_ == Match::same)
    {
        return parts_.front().get<double>("centres");
    }
    StateTree moved;
    moved.putArray("centres", move(parts_, "centres", {StateTree::Type::float64, 3, true}));
    return moved.get<double>("centres");
}


StateTree::Array SavedRows::move
(
    const std::vector<StateTree>& parts,
    const std::string& name,
    const Columns& columns
) const
{
    const std::size_t bytesPerRow = columns.n*bytesOf(columns.type);
    Comm::Bytes ofCells, ofFaces;
    together(comm_, [&]
    {
        for (std::size_t i = 0; i < parts.size(); ++i)
        {
            const StateTree::Array& array = parts[i].getArray(name);
            const std::size_t nRows = columns.faces ? nRows_[i] : nCells_[i];
            if (array.type != columns.type || array.bytes() != nRows*bytesPerRow)
            {
                throw Error("saved values '" + name + "' of " + std::to_string(array.bytes())
                    + " bytes are not of " + std::to_string(nRows) + " rows with "
                    + std::to_string(columns.n) + " columns in "
                    + std::to_string(bytesOf(columns.type)) + "-byte numbers");
            }
            const auto* const begin = static_cast<const std::uint8_t*>(array.data.get());
            const std::uint8_t* const split = begin + nCells_[i]*bytesPerRow;
            ofCells.insert(ofCells.end(), begin, split);
            ofFaces.insert(ofFaces.end(), split, begin + array.bytes());
        }
    });

    const auto result = std::make_shared<Comm::Bytes>(cells_->move(ofCells, bytesPerRow));
    if (columns.faces)
    {
        const Comm::Bytes moved = faces_->move(ofFaces, bytesPerRow);
        result->insert(result->end(), moved.begin(), moved.end());
    }
    return {columns.type, {static_cast<std::int64_t>(result->size()/bytesPerRow), columns.n},
        std::shared_ptr<const void>(result, result->data())};
}

}
