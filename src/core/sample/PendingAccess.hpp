// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inSitu
{

//- Inputs that wait for their target, as the host sees them
class PendingAccess
{
public:

    struct Pending
    {
        std::int64_t timeIndex = 0;         //!< of its execution: its name
        std::vector<double> input;          //!< [nRows, nInputColumns] less the references
        std::vector<double> target;         //!< [nCells, nTargetColumns] as in the fields
    };

    virtual ~PendingAccess() = default;

    virtual std::size_t nPending() const = 0;

    //- Time index of the i-th, oldest first
    virtual std::int64_t pendingTimeIndex(std::size_t i) const = 0;

    //- Of all of them, references and features left out; the same on all ranks
    virtual std::size_t nInputColumns() const = 0;
    virtual std::size_t nTargetColumns() const = 0;

    //- Its values on the rows here; the memory of pending is reused. Collective over all ranks of
    //  the run, as they may be with another one.
    virtual void getPending(std::size_t i, Pending& pending) const = 0;
};

}
