// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffer/Strip.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace inSitu;

namespace
{

template<class Scalar, class Value>
using Gather = bool (*)(const Strip<Scalar, Value>&);

template<class Scalar, class Value>
std::vector<Gather<Scalar, Value>> variants()
{
    std::vector<Gather<Scalar, Value>> list{gatherStripBaseline<Scalar, Value>};
#ifdef INSITU_STRIP_AVX
    if (haveAvx())
    {
        list.push_back(gatherStripAvx<Scalar, Value>);
    }
#endif
    return list;
}


template<class Types>
class StripTest : public testing::Test {};

template<class S, class V>
struct Types
{
    using Scalar = S;
    using Value = V;
};

using AllTypes = testing::Types<Types<float, float>, Types<float, double>, Types<double, float>,
    Types<double, double>>;
TYPED_TEST_SUITE(StripTest, AllTypes);


// Field and snapshot of one strip, everything else marked
template<class Scalar, class Value>
struct Case
{
    int nComponents;
    int firstComponent;
    int width;
    int nColumns;
    int firstColumn;
    bool follows;
    std::int64_t nRows;
    std::vector<Scalar> field;
    std::vector<Scalar> follower;
    std::vector<Value> rows;
    std::vector<double> reference{0.1, -7.3, 1e5 + 1/3.0, 2.7};

    Strip<Scalar, Value> strip()
    {
        return {field.data() + firstComponent, nComponents, rows.data() + firstColumn, nColumns,
            nRows, reference.data(), width, follows ? follower.data() : nullptr,
            firstColumn + stripWidth <= nColumns || written() == nColumns};
    }

    int written() const { return width + follows; }

    double value(std::int64_t row, int i) const
    {
        return i < width ? field[row*nComponents + firstComponent + i] : follower[row];
    }

    void set(std::int64_t row, int i, Scalar to)
    {
        (i < width ? field[row*nComponents + firstComponent + i] : follower[row]) = to;
    }
};

constexpr double mark = -12345;

template<class Scalar, class Value>
std::vector<Case<Scalar, Value>> allCases()
{
    std::mt19937 generator(7);
    std::vector<Case<Scalar, Value>> cases;
    for (const int nComponents : {1, 3, 6, 9})
    for (int width = 1; width <= std::min(nComponents, stripWidth); ++width)
    for (const int firstComponent : {0, nComponents - width})
    for (const int extra : {0, 1, 3, 6})
    for (const int firstColumn : {0, extra})
    for (const bool follows : {false, true})
    for (const std::int64_t nRows : {0, 1, 2, 3, 4, 5, 7, 8, 21})
    {
        if (follows && width == stripWidth)
        {
            continue;
        }
        Case<Scalar, Value> one{nComponents, firstComponent, width, width + follows + extra,
            firstColumn, follows, nRows, {}, {}, {}};
        for (std::int64_t i = 0; i < nRows*nComponents; ++i)
        {
            one.field.push_back(static_cast<Scalar>(generator()*1e-3/7));
        }
        for (std::int64_t row = 0; row < nRows; ++row)
        {
            one.follower.push_back(static_cast<Scalar>(generator()*1e-3/3));
        }
        one.rows.assign(nRows*one.nColumns, static_cast<Value>(mark));
        cases.push_back(std::move(one));
    }
    return cases;
}

}


TYPED_TEST(StripTest, EveryVariantSubtractsInDoubleAndThenCasts)
{
    using Scalar = typename TypeParam::Scalar;
    using Value = typename TypeParam::Value;

    for (const auto gather : variants<Scalar, Value>())
    {
        for (Case<Scalar, Value> one : allCases<Scalar, Value>())
        {
            EXPECT_FALSE(gather(one.strip()));

            for (std::int64_t row = 0; row < one.nRows; ++row)
            {
                for (int i = 0; i < one.written(); ++i)
                {
                    ASSERT_EQ(one.rows[row*one.nColumns + one.firstColumn + i],
                        static_cast<Value>(one.value(row, i) - one.reference[i]));
                }
            }
        }
    }
}


TYPED_TEST(StripTest, ColumnsOfOthersAreTouchedOnlyWhereTheyAreWrittenLater)
{
    using Scalar = typename TypeParam::Scalar;
    using Value = typename TypeParam::Value;

    for (const auto gather : variants<Scalar, Value>())
    {
        for (Case<Scalar, Value> one : allCases<Scalar, Value>())
        {
            const bool later = one.firstColumn + stripWidth <= one.nColumns;
            gather(one.strip());

            for (std::int64_t row = 0; row < one.nRows; ++row)
            {
                for (int column = 0; column < one.nColumns; ++column)
                {
                    const bool own = column >= one.firstColumn
                        && column < one.firstColumn + one.written();
                    const bool next = later && column >= one.firstColumn
                        && column < one.firstColumn + stripWidth;
                    if (!own && !next)
                    {
                        ASSERT_EQ(one.rows[row*one.nColumns + column], static_cast<Value>(mark));
                    }
                }
            }
        }
    }
}


TYPED_TEST(StripTest, EveryVariantRaisesAnAlarmForEachBadValue)
{
    using Scalar = typename TypeParam::Scalar;
    using Value = typename TypeParam::Value;
    const Scalar bad[] = {std::numeric_limits<Scalar>::infinity(),
        -std::numeric_limits<Scalar>::infinity(), std::numeric_limits<Scalar>::quiet_NaN()};

    for (const auto gather : variants<Scalar, Value>())
    {
        for (const Case<Scalar, Value>& good : allCases<Scalar, Value>())
        {
            for (std::int64_t row = 0; row < good.nRows; ++row)
            {
                Case<Scalar, Value> one = good;
                one.set(row, static_cast<int>(row) % one.written(), bad[row % 3]);

                ASSERT_TRUE(gather(one.strip())) << "row " << row << " of " << one.nRows;
            }
        }
    }
}
