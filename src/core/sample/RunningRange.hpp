// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/StateTree.hpp"

#include <vector>

namespace inSitu
{

//- Least and largest value of columns so far
class RunningRange
{
public:

    explicit RunningRange(int nColumns);

    //- rows [nRows, nColumns] of all ranks (collective)
    void add(Span<const double> rows, const Comm& comm);

    //- Empty before the first row
    std::vector<double> minimum() const;
    std::vector<double> maximum() const;

    StateTree save() const;
    void load(const StateTree& state);

private:

    int nColumns_;
    std::vector<double> extremes_;      // of −value, then of value
};

}
