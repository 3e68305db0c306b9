// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "infer/ErrorMeasure.hpp"
#include "infer/Surrogate.hpp"
#include "profile/Profiler.hpp"
#include "sample/SampleStream.hpp"
#include "sample/TrainingCase.hpp"

#include <cstdint>
#include <vector>

namespace inSitu
{

//- Predicts each new state from the one a horizon ago. Allocates nothing once the horizon is filled.
//  Stages of the profiler: gather, predict, compare.
class Comparison
{
public:

    Comparison(Surrogate& surrogate, const SampleStream::Layout& layout, const CaseMesh& mesh,
        std::vector<int> fieldOfColumn, Profiler& profiler);

    //- One execution (collective). The fault of SampleStream::take(), if any: then what waits is
    //  to be dropped by the caller.
    template<class Scalar>
    SampleStream::Taken execute(const Instant& now, const std::vector<FieldView<Scalar>>& views,
        const Comm& comm);

    //- Whole values for the last execution [nCells, nColumns]; empty if nothing was due
    Span<const double> prediction() const;
    bool hasPrediction() const { return hasPrediction_; }

    //- Go on with another surrogate of the same columns
    void replace(Surrogate& surrogate);

    SampleStream& stream() { return stream_; }
    const SampleStream& stream() const { return stream_; }
    ErrorMeasure& errors() { return errors_; }

    //- Time from input to target of the last prediction, s; 0 before the first
    double interval() const { return interval_; }

    //- Predictions with a value that is not finite: they count nowhere else
    std::int64_t nNonFinite() const { return nNonFinite_; }

private:

    void compare(const PendingInputs::Completed& completed, const Comm& comm);

    Surrogate* surrogate_;
    Profiler& profiler_;
    SampleStream stream_;
    ErrorMeasure errors_;
    std::vector<double> predicted_;
    bool hasPrediction_ = false;
    double interval_ = 0;
    std::int64_t nNonFinite_ = 0;
};

}
