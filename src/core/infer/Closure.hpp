// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Span.hpp"
#include "config/PredictorConfig.hpp"
#include "io/ModelCard.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace inSitu
{

//- Bounds of the columns of the targets: nothing beyond them reaches the solver
struct ColumnLimits
{
    std::vector<double> minimum;        //!< −infinity: none
    std::vector<double> maximum;
};


//- What becomes of a prediction on its way into a field of the solver
class Closure
{
public:

    //- The range of the training is that of the card; without one, only finiteness and limits
    //  count
    Closure(const ModelCard& card, const ClosureConfig& config, ColumnLimits limits);

    //- The same network after more training, or another one of the same columns
    void setRange(const ModelCard& card);

    //- Replace each value of the prediction [nCells, nColumns] by what may be written: first the
    //  range of the training, then relaxation from previous [nCells, nColumns], the values that
    //  the fields have, then limits. A value that is not finite becomes the previous one. Where
    //  the previous one is not finite, the new one is not relaxed, and an outlier cut off instead
    //  of left out.
    //  Throws Error with row and column for an outlier under `abort`, and for a value that is not
    //  finite where the previous one is not either.
    void apply(Span<double> prediction, Span<const double> previous);

    //- Values outside the range of the training, or not finite, since the start
    std::int64_t nOutliers() const { return nOutliers_; }
    std::int64_t nNonFinite() const { return nNonFinite_; }

    void reconfigure(const ClosureConfig& config, ColumnLimits limits);

private:

    double admitted(double value, double previous, std::size_t row, std::size_t column);

    std::vector<std::string> columns_;
    std::vector<double> minimum_;       // of the training
    std::vector<double> maximum_;
    ClosureConfig config_;
    ColumnLimits limits_;
    std::int64_t nOutliers_ = 0;
    std::int64_t nNonFinite_ = 0;
};

}
