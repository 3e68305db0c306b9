// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Stamped.hpp"
#include "sample/Sample.hpp"

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

//- What each cell counts in the loss: 1 inside the zone, by choice times its volume, 0 outside
class CellWeights
{
public:

    CellWeights(std::shared_ptr<Comm> comm, const CountBuild& count);

    struct Values
    {
        at::Tensor cells;       //!< [nCells] double
        double sum = 0;         //!< over all ranks
    };

    //- Made when mesh or choice change (collective). Throws Error if sizes do not fit or no cell
    //  counts.
    const Values& on(const MeshState& mesh, bool byVolume);

    //- As BatchAssembler::firstStaleEntry()
    std::string firstStaleEntry() const;

private:

    struct Key
    {
        std::shared_ptr<const MeshGraph> rows;
        std::shared_ptr<const std::vector<double>> cellMask;
        std::shared_ptr<const MeshGeometry> volumes;    // null: cells count alike

        bool operator==(const Key& other) const
        {
            return rows == other.rows && cellMask == other.cellMask && volumes == other.volumes;
        }

        std::string changeFrom(const Key& before) const
        {
            return rows != before.rows || cellMask != before.cellMask ? "topology"
                : !volumes != !before.volumes ? "configuration" : "geometry";
        }
    };

    Values make(const Key& key) const;

    std::shared_ptr<Comm> comm_;
    Stamped<Key, Values> values_;
};

}
