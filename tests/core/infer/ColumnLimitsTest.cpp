// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/columnLimits.hpp"

#include "base/Error.hpp"
#include "config/YamlFile.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace inSitu
{
namespace
{

using Values = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

const std::vector<FieldSpec> targets
{
    {"U", "volVectorField", 3, {0, 1}, {"Ux", "Uy"}, {}},
    {"nut", "volScalarField", 1, {0}, {"nut"}, {}}
};


std::string faultOf(const std::string& text)
{
    try
    {
        columnLimits(parseYaml(text, "controlDict"), targets);
        return "nothing";
    }
    catch (const ConfigError& fault)
    {
        return fault.what();
    }
}

}


TEST(ColumnLimits, HoldForAllColumnsOfAField)
{
    const ColumnLimits limits =
        columnLimits(parseYaml("{nut: {min: 0.25}, U: {min: -3, max: 7}}", ""), targets);
    EXPECT_EQ(limits.minimum, (Values{-3, -3, 0.25}));
    EXPECT_EQ(limits.maximum, (Values{7, 7, infinity}));

    const ColumnLimits none = columnLimits(Node::block(), targets);
    EXPECT_EQ(none.minimum, (Values{-infinity, -infinity, -infinity}));
    EXPECT_EQ(none.maximum, (Values{infinity, infinity, infinity}));
}


TEST(ColumnLimits, NameWhatIsWrong)
{
    using testing::HasSubstr;
    EXPECT_THAT(faultOf("k: {min: 0}"), HasSubstr("no target 'k'; it has U nut"));
    EXPECT_THAT(faultOf("nut:\n  min: 0\n  mx: 1"), HasSubstr("limits.nut.mx"));
    EXPECT_THAT(faultOf("nut: {min: low}"), HasSubstr("low"));
    EXPECT_THAT(faultOf("nut: {min: 2, max: 1}"), HasSubstr("min is above max"));
    EXPECT_THAT(faultOf("nut: 3"), HasSubstr("nut"));
}


TEST(ColumnLimits, RangeIsPerField)
{
    const std::vector<std::vector<double>> range =
        rangeByField({3, -4, 0.5, 2, 8, 0.25}, targets, SerialComm());
    EXPECT_EQ(range[0], (Values{-4, 0.25}));
    EXPECT_EQ(range[1], (Values{8, 0.5}));
}

}
