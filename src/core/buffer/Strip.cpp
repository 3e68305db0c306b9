// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffer/Strip.hpp"

#include <cstring>

namespace inSitu
{
namespace
{

constexpr int lanes = stripWidth;

template<class T> struct Lanes;
template<> struct Lanes<float> { typedef float type __attribute__((vector_size(16))); };
template<> struct Lanes<double> { typedef double type __attribute__((vector_size(32))); };


// Whether something was not finite: a sum is finite only if all that went into it was. A sum
// that overflows is a false alarm, which costs a second look and nothing else.
template<class Value>
class Watch
{
public:

    [[gnu::always_inline]] void see(const typename Lanes<Value>::type& values)
    {
        sum_ += values;
    }

    [[gnu::always_inline]] bool alarm() const
    {
        const Value sum = (sum_[0] + sum_[1]) + (sum_[2] + sum_[3]);
        return !(sum - sum == 0);
    }

private:

    typename Lanes<Value>::type sum_ = {};
};


// Value(source[i] − shift[i]) for four neighbours
template<class Scalar, class Value>
[[gnu::always_inline]] inline void convert
(
    const Scalar* source,
    const Lanes<double>::type& shift,
    typename Lanes<Value>::type& out
)
{
    typename Lanes<Scalar>::type values;
    std::memcpy(&values, source, sizeof(values));
    out = __builtin_convertvector
    (
        __builtin_convertvector(values, Lanes<double>::type) - shift,
        typename Lanes<Value>::type
    );
}


template<class Scalar, class Value>
[[gnu::always_inline]] inline bool convertRow(const Strip<Scalar, Value>& strip, std::int64_t row)
{
    bool good = true;
    for (int i = 0; i < strip.width; ++i)
    {
        const double value = strip.source[row*strip.sourceStride + i];
        const Value difference = static_cast<Value>(value - strip.reference[i]);
        strip.target[row*strip.targetStride + i] = difference;
        good &= difference - difference == 0;
    }
    if (strip.follower)
    {
        const double value = strip.follower[row];
        const Value difference = static_cast<Value>(value - strip.reference[strip.width]);
        strip.target[row*strip.targetStride + strip.width] = difference;
        good &= difference - difference == 0;
    }
    return !good;
}


// width columns are kept of the four that are read, one may follow, written are stored
template<class Scalar, class Value, int width, bool follows, int written>
[[gnu::always_inline]] inline bool gatherColumns(const Strip<Scalar, Value>& strip)
{
    Lanes<double>::type shift = {};
    for (int i = 0; i < width; ++i)
    {
        shift[i] = strip.reference[i];
    }

    // Reading and writing four columns must not leave the memory of field and snapshot: the
    // last three rows go one by one
    const std::int64_t last = strip.nRows - (width < lanes ? lanes : 1);

    const double next = follows ? strip.reference[width] : 0;
    const Lanes<double>::type nextShift = {next, next, next, next};

    Watch<Value> watch;
    std::int64_t row = 0;
    const std::int64_t sourceStride = strip.sourceStride;
    const std::int64_t targetStride = strip.targetStride;
    const Scalar* source = strip.source;
    Value* target = strip.target;
    for (; row + lanes - 1 <= last; row += lanes)
    {
        typename Lanes<Value>::type values[lanes];
        typename Lanes<Value>::type followers;
        if constexpr (follows)
        {
            convert<Scalar, Value>(strip.follower + row, nextShift, followers);
        }
        #pragma GCC unroll 4
        for (int i = 0; i < lanes; ++i)
        {
            convert<Scalar, Value>(source + i*sourceStride, shift, values[i]);
            if constexpr (follows)
            {
                values[i][width] = followers[i];
            }
            std::memcpy(target + i*targetStride, &values[i], written*sizeof(Value));
        }
        watch.see((values[0] + values[1]) + (values[2] + values[3]));
        source += lanes*sourceStride;
        target += lanes*targetStride;
    }

    bool bad = watch.alarm();
    for (; row < strip.nRows; ++row)
    {
        bad |= convertRow(strip, row);
    }
    return bad;
}


// A field of one component: four rows are neighbours
template<class Scalar, class Value>
[[gnu::always_inline]] inline bool gatherScalars(const Strip<Scalar, Value>& strip)
{
    const double reference = strip.reference[0];
    const Lanes<double>::type shift = {reference, reference, reference, reference};

    Watch<Value> watch;
    std::int64_t row = 0;
    const std::int64_t stride = strip.targetStride;
    Value* target = strip.target;
    for (; row + lanes <= strip.nRows; row += lanes)
    {
        typename Lanes<Value>::type values;
        convert<Scalar, Value>(strip.source + row, shift, values);
        watch.see(values);
        #pragma GCC unroll 4
        for (int i = 0; i < lanes; ++i)
        {
            target[i*stride] = values[i];
        }
        target += lanes*stride;
    }

    bool bad = watch.alarm();
    for (; row < strip.nRows; ++row)
    {
        bad |= convertRow(strip, row);
    }
    return bad;
}


template<class Scalar, class Value, int width>
[[gnu::always_inline]] inline bool gatherWidth(const Strip<Scalar, Value>& strip)
{
    if (strip.follower)
    {
        return strip.mayOverlap
          ? gatherColumns<Scalar, Value, width, true, lanes>(strip)
          : gatherColumns<Scalar, Value, width, true, width + 1>(strip);
    }
    return strip.mayOverlap
      ? gatherColumns<Scalar, Value, width, false, lanes>(strip)
      : gatherColumns<Scalar, Value, width, false, width>(strip);
}


template<class Scalar, class Value>
[[gnu::always_inline]] inline bool gatherAny(const Strip<Scalar, Value>& strip)
{
    if (strip.sourceStride == 1 && !strip.follower)
    {
        return gatherScalars(strip);
    }
    switch (strip.width)
    {
        case 1: return gatherWidth<Scalar, Value, 1>(strip);
        case 2: return gatherWidth<Scalar, Value, 2>(strip);
        case 3: return gatherWidth<Scalar, Value, 3>(strip);
        default: return gatherColumns<Scalar, Value, lanes, false, lanes>(strip);
    }
}

}


template<class Scalar, class Value>
bool gatherStripBaseline(const Strip<Scalar, Value>& strip)
{
    return gatherAny(strip);
}


#ifdef INSITU_STRIP_AVX

template<class Scalar, class Value>
bool gatherStripAvx(const Strip<Scalar, Value>& strip)
{
    return gatherAny(strip);
}


bool haveAvx()
{
    static const bool have = __builtin_cpu_supports("avx");
    return have;
}

#define INSTANTIATE_AVX(Scalar, Value) \
    template bool gatherStripAvx(const Strip<Scalar, Value>&);

#else

#define INSTANTIATE_AVX(Scalar, Value)

#endif


template<class Scalar, class Value>
bool gatherStrip(const Strip<Scalar, Value>& strip)
{
#ifdef INSITU_STRIP_AVX
    if (haveAvx())
    {
        return gatherStripAvx(strip);
    }
#endif
    return gatherStripBaseline(strip);
}


#define INSTANTIATE(Scalar, Value) \
    template bool gatherStrip(const Strip<Scalar, Value>&); \
    template bool gatherStripBaseline(const Strip<Scalar, Value>&); \
    INSTANTIATE_AVX(Scalar, Value)

INSTANTIATE(float, float)
INSTANTIATE(float, double)
INSTANTIATE(double, float)
INSTANTIATE(double, double)

#undef INSTANTIATE
#undef INSTANTIATE_AVX

}
