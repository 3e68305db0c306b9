// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "sample/OnlineSkill.hpp"
#include "sample/Sample.hpp"

#include <cstdint>
#include <vector>

namespace inSitu
{

//- What a prediction was worth, over the executions since the last report
struct PredictionErrors
{
    std::int64_t samples = 0;
    std::vector<double> rmse;           //!< per target field, in its unit
    std::vector<double> skill;          //!< 1 − MSE/MSE of persistence
    std::vector<double> largest;        //!< error of a component, per field
    std::vector<std::int64_t> place;    //!< its cell in the whole mesh; -1: no error
};


//- Sums up predictions against what came
class ErrorMeasure
{
public:

    explicit ErrorMeasure(std::vector<int> fieldOfColumn);

    //- All [nCells, nColumns], as in the fields; ids of the cells, null: as they are numbered
    //  (collective)
    void add(Span<const double> prediction, Span<const double> truth,
        Span<const double> baseline, const RowIds* ids, const Comm& comm);

    std::int64_t nSamples() const { return skill_.nSamples(); }

    //- Collective
    PredictionErrors errors(const Comm& comm) const;
    void reset();

private:

    std::vector<int> fieldOfColumn_;
    OnlineSkill skill_;
    std::vector<double> largest_;       //!< on this rank
    std::vector<std::int64_t> place_;
};

}
