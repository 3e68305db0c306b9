// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace inSitu
{

//- Columns that are handled at once
constexpr int stripWidth = 4;


//- Neighbouring columns of a snapshot that come from neighbouring components of one field in
//  one piece of memory, and perhaps a scalar field behind them (U p): the inner loop of a gather
template<class Scalar, class Value>
struct Strip
{
    const Scalar* source;           //!< first component of the first row
    std::int64_t sourceStride;      //!< components of the field
    Value* target;                  //!< first column of the first row
    std::int64_t targetStride;      //!< columns of the snapshot
    std::int64_t nRows;
    const double* reference;        //!< per column
    int width;                      //!< 1 to stripWidth columns

    //- Scalar field of the column behind them, if they are fewer than stripWidth; nullptr: none
    const Scalar* follower;

    //- Columns up to stripWidth may be filled with anything: others write them later, or
    //  they are this strip's own next rows
    bool mayOverlap;
};


//- target = Value(source − reference), the difference formed in double. True is an alarm: a
//  difference may have left the range of Value or was never finite. The last three rows are
//  written exactly, nothing beyond the memory of field and snapshot is touched.
//  Scalar, Value: float or double.
template<class Scalar, class Value>
bool gatherStrip(const Strip<Scalar, Value>& strip);

//- What gatherStrip() chooses from: the same bits for any processor, and for one with AVX
template<class Scalar, class Value>
bool gatherStripBaseline(const Strip<Scalar, Value>& strip);

#if defined(__x86_64__)
#define INSITU_STRIP_AVX

//- Call only if haveAvx()
template<class Scalar, class Value>
__attribute__((target("avx")))
bool gatherStripAvx(const Strip<Scalar, Value>& strip);

bool haveAvx();

#endif

}
