// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/CellWeights.hpp"

#include "base/Error.hpp"

#include <ATen/ATen.h>

#include <numeric>

namespace inSitu
{

CellWeights::CellWeights(std::shared_ptr<Comm> comm, const CountBuild& count)
:
    comm_(std::move(comm)),
    values_("lossWeights", count)
{}


const CellWeights::Values& CellWeights::on(const MeshState& mesh, bool byVolume)
{
    const Key key{mesh.rows(), mesh.cellMask, byVolume ? mesh.geometry : nullptr};
    return values_.get(key, [&] { return make(key); });
}


CellWeights::Values CellWeights::make(const Key& key) const
{
    const auto nCells = static_cast<std::size_t>(key.rows->nCells());
    std::vector<double> cells = key.cellMask ? *key.cellMask : std::vector<double>(nCells, 1.0);
    if (cells.size() != nCells || (key.volumes && key.volumes->cellVolumes.size() != nCells))
    {
        throw Error("the mesh has " + std::to_string(nCells) + " cells, but there are "
            + std::to_string(cells.size()) + " entries of the zone of the loss"
            + (key.volumes
                ? " and " + std::to_string(key.volumes->cellVolumes.size()) + " volumes" : ""));
    }
    for (std::size_t i = 0; key.volumes && i < nCells; ++i)
    {
        cells[i] *= key.volumes->cellVolumes[i];
    }

    Values result;
    result.cells = at::tensor(cells, at::kDouble);
    result.sum = std::accumulate(cells.begin(), cells.end(), 0.0);
    comm_->sum(Span<double>(&result.sum, 1));
    if (!(result.sum > 0))
    {
        throw Error("the weights of the loss add up to " + std::to_string(result.sum)
            + "; choose a cellZone that has cells");
    }
    return result;
}


std::string CellWeights::firstStaleEntry() const
{
    if (!values_.key())
    {
        return {};
    }
    const Values fresh = make(*values_.key());
    const Values& held = *values_.value();
    for (std::int64_t cell = 0; cell < fresh.cells.size(0); ++cell)
    {
        const double now = held.cells[cell].item<double>();
        const double then = fresh.cells[cell].item<double>();
        if (now != then)
        {
            return values_.name() + ": weight of cell " + std::to_string(cell) + " is "
                + std::to_string(now) + ", a fresh build gives " + std::to_string(then);
        }
    }
    return {};
}

}
