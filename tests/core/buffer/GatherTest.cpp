// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffer/Gather.hpp"

#include "AllocationCounter.hpp"
#include "base/Error.hpp"
#include "buffer/SlotPool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace inSitu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace
{

FieldSpec spec(const std::string& name, int nComponents, std::vector<int> components)
{
    FieldSpec result;
    result.name = name;
    result.nComponents = nComponents;
    result.components = std::move(components);
    return result;
}


// Fields with boundary patches, owned here
struct Fields
{
    std::vector<FieldSpec> specs;
    std::vector<std::vector<double>> cells;
    std::vector<std::vector<std::vector<double>>> patches;

    std::vector<FieldView<double>> views() const
    {
        std::vector<FieldView<double>> result;
        for (std::size_t f = 0; f < cells.size(); ++f)
        {
            FieldView<double> view{cells[f], {}};
            for (const std::vector<double>& patch : patches[f])
            {
                view.patches.push_back(patch);
            }
            result.push_back(view);
        }
        return result;
    }
};


Fields randomFields(std::mt19937& generator)
{
    const auto below = [&](int n) { return static_cast<int>(generator() % n); };

    Fields fields;
    std::vector<int> sizes{below(40) + (below(4) == 0 ? 1020 : 0)};
    for (int patch = below(4); patch > 0; --patch)
    {
        sizes.push_back(below(12));
    }
    const int kinds[] = {1, 3, 6, 9};
    for (int f = 1 + below(4); f > 0; --f)
    {
        const int n = kinds[below(4)];
        std::vector<int> components;
        while (components.empty())
        {
            for (int c = 0; c < n; ++c)
            {
                if (below(4) > 0)
                {
                    components.push_back(c);
                }
            }
        }
        fields.specs.push_back(spec("f" + std::to_string(f), n, components));

        std::vector<std::vector<double>> pieces;
        for (const int size : sizes)
        {
            pieces.emplace_back(size*n);
            for (double& value : pieces.back())
            {
                value = generator()*1e-4;
            }
        }
        fields.cells.push_back(pieces[0]);
        fields.patches.emplace_back(pieces.begin() + 1, pieces.end());
    }
    return fields;
}


std::vector<double> references(int n)
{
    std::vector<double> values;
    for (int c = 0; c < n; ++c)
    {
        values.push_back(1e5/(c + 1.7));
    }
    return values;
}


// Velocity in two of three directions and pressure: 3 cells, patches of 1 and 2 faces
Fields flow()
{
    Fields fields;
    fields.specs = {spec("p", 1, {0}), spec("U", 3, {0, 1})};
    fields.cells = {{10, 11, 12}, {1, 2, 90, 3, 4, 90, 5, 6, 90}};
    fields.patches = {{{13}, {14, 15}}, {{7, 8, 90}, {-1, -2, 90, -3, -4, 90}}};
    return fields;
}

}


TEST(Gather, RowsAreCellsThenPatchFacesAndColumnsFollowTheListOfFields)
{
    const Fields fields = flow();
    const RowLayout layout = RowLayout::of(fields.specs, {1, 0}, true);
    const std::vector<double> reference{0.5, 0.25, 10};
    std::vector<float> rows(6*3);

    const NonFinite found = gatherRows(layout, fields.views(), Span<const double>(reference),
        Span<float>(rows));

    EXPECT_EQ(found.field, -1);
    EXPECT_THAT(rows, ElementsAre(
        0.5f, 1.75f, 0, 2.5f, 3.75f, 1, 4.5f, 5.75f, 2,
        6.5f, 7.75f, 3,
        -1.5f, -2.25f, 4, -3.5f, -4.25f, 5));
}


TEST(Gather, TwoMayTakeTurnsInAnyOrder)
{
    std::mt19937 generator(5);
    Fields fields;
    fields.specs = {spec("p", 1, {0}), spec("U", 3, {0, 2})};
    for (const int n : {1, 3})
    {
        std::vector<double> values(2600*n);
        for (double& value : values)
        {
            value = generator()*1e-4;
        }
        fields.cells.push_back(values);
        fields.patches.push_back({std::vector<double>(values.begin(), values.begin() + 7*n)});
    }
    const auto views = fields.views();
    const RowLayout all = RowLayout::of(fields.specs, {1, 0}, true);
    const RowLayout cells = RowLayout::of(fields.specs, {0}, false);
    const std::vector<double> reference = references(3);
    const Span<const double> first(reference.data(), 3), second(reference.data() + 1, 1);

    std::vector<float> rows(2607*3), expectedRows(rows.size());
    std::vector<double> values(2600), expectedValues(values.size());
    gatherRows(all, views, first, Span<float>(expectedRows));
    gatherRows(cells, views, second, Span<double>(expectedValues));

    RowGather<double, float> longer(all, views, first, Span<float>(rows), 1000);
    RowGather<double, double> shorter(cells, views, second, Span<double>(values), 1000);
    ASSERT_EQ(longer.nBands(), 4);      // the faces are one
    ASSERT_EQ(shorter.nBands(), 3);
    for (const int band : {2, 0, 3, 1})
    {
        longer.take(band);
        if (band < shorter.nBands())
        {
            shorter.take(band);
        }
    }
    EXPECT_EQ(rows, expectedRows);
    EXPECT_EQ(values, expectedValues);
    EXPECT_EQ(longer.fault().field, -1);
    EXPECT_EQ(shorter.fault().field, -1);
}


TEST(Gather, WithoutBoundaryRowsThePatchesAreLeftOut)
{
    const Fields fields = flow();
    const RowLayout layout = RowLayout::of(fields.specs, {0}, false);
    const std::vector<double> reference{9};
    std::vector<double> rows(3);

    gatherRows(layout, fields.views(), Span<const double>(reference), Span<double>(rows));

    EXPECT_THAT(rows, ElementsAre(1, 2, 3));
}


TEST(Gather, APressureOf1e5PlusMinusOneKeepsItsDigits)
{
    Fields fields;
    fields.specs = {spec("p", 1, {0})};
    fields.cells = {{1e5 + 0.000123456789, 1e5 - 0.98765432109}};
    fields.patches = {{}};
    const std::vector<double> reference{1e5};
    std::vector<float> rows(2);

    gatherRows(RowLayout::of(fields.specs, {0}, true), fields.views(),
        Span<const double>(reference), Span<float>(rows));

    EXPECT_NEAR(rows[0], 0.000123456789, 1e-10);
    EXPECT_NEAR(rows[1], -0.98765432109, 1e-7);
}


TEST(Gather, AnySelectionOfAnyFieldsEqualsTheFormula)
{
    std::mt19937 generator(11);
    for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i)
    {
        SCOPED_TRACE(i);
        const Fields fields = randomFields(generator);
        std::vector<int> order(fields.specs.size());
        for (std::size_t f = 0; f < order.size(); ++f)
        {
            order[f] = static_cast<int>(order.size() - 1 - f);
        }
        const bool boundary = i % 3 > 0;
        const RowLayout layout = RowLayout::of(fields.specs, order, boundary);
        const std::vector<double> reference = references(layout.nColumns);

        std::vector<float> expected;
        const auto append = [&](const auto& pieceOf)
        {
            const FieldSpec& first = fields.specs[0];
            const std::size_t n = pieceOf(0).size()/first.nComponents;
            for (std::size_t row = 0; row < n; ++row)
            {
                int column = 0;
                for (const int f : order)
                {
                    for (const int c : fields.specs[f].components)
                    {
                        const double value = pieceOf(f)[row*fields.specs[f].nComponents + c];
                        expected.push_back(static_cast<float>(value - reference[column++]));
                    }
                }
            }
        };
        append([&](int f) { return fields.cells[f]; });
        for (std::size_t patch = 0; boundary && patch < fields.patches[0].size(); ++patch)
        {
            append([&](int f) { return fields.patches[f][patch]; });
        }

        std::vector<float> rows(expected.size(), -1);
        const NonFinite found = gatherRows(layout, fields.views(),
            Span<const double>(reference), Span<float>(rows));

        EXPECT_EQ(found.field, -1);
        EXPECT_EQ(rows, expected);
    }
}


TEST(Gather, TheFirstValueThatIsNotFiniteIsNamed)
{
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto found = [](const Fields& fields, const std::vector<int>& order)
    {
        const RowLayout layout = RowLayout::of(fields.specs, order, true);
        const std::vector<double> reference(layout.nColumns, 0.5);
        std::vector<float> rows(6*layout.nColumns);
        const NonFinite bad = gatherRows(layout, fields.views(), Span<const double>(reference),
            Span<float>(rows));
        return std::vector<int>{bad.field, static_cast<int>(bad.row), bad.component};
    };

    Fields inCell = flow();
    inCell.cells[1][7] = nan;
    inCell.cells[1][4] = -inf;
    EXPECT_THAT(found(inCell, {0, 1}), ElementsAre(1, 1, 1));

    Fields onPatch = flow();
    onPatch.patches[0][1][1] = inf;
    EXPECT_THAT(found(onPatch, {1, 0}), ElementsAre(0, 5, 0));

    Fields both = flow();
    both.cells[0][2] = nan;
    both.cells[1][0] = nan;
    EXPECT_THAT(found(both, {0, 1}), ElementsAre(0, 2, 0));
    EXPECT_THAT(found(both, {1, 0}), ElementsAre(1, 0, 0));

    Fields tooLarge = flow();
    tooLarge.cells[1][3] = 1e39;
    EXPECT_THAT(found(tooLarge, {0, 1}), ElementsAre(1, 1, 0));
    tooLarge.cells[1][6] = nan;
    EXPECT_THAT(found(tooLarge, {0, 1}), ElementsAre(1, 2, 0));

    Fields leftOut = flow();
    leftOut.cells[1][5] = nan;
    EXPECT_THAT(found(leftOut, {0, 1}), ElementsAre(-1, -1, -1));
}


TEST(Gather, ABadReferenceIsFoundAfterTheValuesThatMadeIt)
{
    Fields fields = flow();
    fields.cells[0][2] = std::numeric_limits<double>::quiet_NaN();
    const RowLayout layout = RowLayout::of(fields.specs, {0}, true);
    const std::vector<double> sums = columnSums(layout, fields.views());
    std::vector<float> rows(6);

    const NonFinite found = gatherRows(layout, fields.views(), Span<const double>(sums),
        Span<float>(rows));

    EXPECT_EQ(found.row, 2);
}


TEST(Gather, ValuesBeyondTheRangeOfFloatAreFineInDouble)
{
    Fields fields = flow();
    fields.cells[0][1] = 1e300;
    const std::vector<double> reference{0};
    std::vector<double> rows(3);

    const NonFinite found = gatherRows(RowLayout::of(fields.specs, {0}, false), fields.views(),
        Span<const double>(reference), Span<double>(rows));

    EXPECT_EQ(found.field, -1);
    EXPECT_EQ(rows[1], 1e300);
}


TEST(Gather, SinglePrecisionFieldsAreReadAsTheyAre)
{
    const std::vector<float> p{1.5f, 0.1f, 7};
    const std::vector<FieldView<float>> views{{p, {}}};
    const RowLayout layout = RowLayout::of({spec("p", 1, {0})}, {0}, true);
    const std::vector<double> reference{0.25};
    std::vector<double> rows(3);

    gatherRows(layout, views, Span<const double>(reference), Span<double>(rows));

    EXPECT_THAT(rows, ElementsAre(1.25, static_cast<double>(0.1f) - 0.25, 6.75));
    EXPECT_THAT(columnSums(layout, views), ElementsAre(8.5 + static_cast<double>(0.1f)));
}


TEST(Gather, ColumnSumsAreOverTheCellsAlone)
{
    const Fields fields = flow();

    EXPECT_THAT(columnSums(RowLayout::of(fields.specs, {1, 0}, true), fields.views()),
        ElementsAre(9, 12, 33));
}


TEST(Gather, NothingIsAllocatedOnceTheSlotsAreThere)
{
    std::mt19937 generator(3);
    const Fields fields = randomFields(generator);
    std::vector<int> order(fields.specs.size());
    for (std::size_t f = 0; f < order.size(); ++f)
    {
        order[f] = static_cast<int>(f);
    }
    const RowLayout layout = RowLayout::of(fields.specs, order, true);
    const std::vector<FieldView<double>> views = fields.views();
    const std::vector<double> reference = references(layout.nColumns);
    std::size_t nRows = views[0].cells.size();
    for (const Span<const double>& patch : views[0].patches)
    {
        nRows += patch.size();
    }
    nRows /= fields.specs[0].nComponents;
    SlotPool pool(nRows*layout.nColumns*sizeof(float));

    const auto step = [&]
    {
        const SlotPool::Handle slot = pool.acquire();
        gatherRows(layout, views, Span<const double>(reference),
            Span<float>(static_cast<float*>(slot.get()), nRows*layout.nColumns));
        return slot;
    };
    SlotPool::Handle previous = step();
    previous = step();
    const long before = allocations;
    for (int i = 0; i < 20; ++i)
    {
        previous = step();
    }

    EXPECT_EQ(allocations - before, 0);
    EXPECT_EQ(pool.nAllocated(), 2);
    EXPECT_GT(before, 0);
}


TEST(Gather, SizesThatDoNotFitAreRefused)
{
    Fields fields = flow();
    const RowLayout layout = RowLayout::of(fields.specs, {0, 1}, true);
    const std::vector<double> reference(3);
    std::vector<float> rows(18);
    const auto gather = [&]
    {
        gatherRows(layout, fields.views(), Span<const double>(reference), Span<float>(rows));
    };

    rows.resize(17);
    EXPECT_THAT(gather, ThrowsMessage<Error>(HasSubstr("6 rows and 3 columns")));
    rows.resize(18);
    fields.patches[1][1].resize(3);
    EXPECT_THAT(gather, ThrowsMessage<Error>(HasSubstr("field 1 has another number")));
    fields = flow();
    fields.cells[1].resize(6);
    EXPECT_THAT(gather, ThrowsMessage<Error>(HasSubstr("field 1 has another number")));
    fields = flow();
    fields.patches[1].pop_back();
    EXPECT_THAT(gather, ThrowsMessage<Error>(HasSubstr("field 1 has another number")));

    RowLayout odd = RowLayout::of({spec("a", 2, {0})}, {0}, false);
    EXPECT_THAT(([&] { columnSums(odd, fields.views()); }),
        ThrowsMessage<Error>(HasSubstr("2 components")));
    odd = RowLayout::of({spec("a", 3, {3})}, {0}, false);
    EXPECT_THAT(([&] { columnSums(odd, fields.views()); }),
        ThrowsMessage<Error>(HasSubstr("no component 3")));
}
