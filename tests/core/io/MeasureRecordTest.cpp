// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/MeasureRecord.hpp"

#include "TemporaryFolder.hpp"
#include "base/Error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace inSitu
{
namespace
{

const std::vector<std::vector<double>> values{{0.5, 12}, {0.875, std::nan("")}};

}


TEST(MeasureRecord, WritesEachMeasureOfEachTarget)
{
    const TemporaryFolder folder;
    MeasureRecord record(folder / "new/3", "comparison", "samples", {"rmse", "skill"}, {"U", "p"});
    record.start("compare", "model.pt", "{\"format\":1}");
    record.row(0.30000000000000004, 7, values);
    record.warning("cell 3 \"x\"");

    EXPECT_EQ(folder.read("new/3/comparison.dat"),
        "# Time\tsamples\trmse(U)\trmse(p)\tskill(U)\tskill(p)\n"
        "0.30000000000000004\t7\t0.5\t12\t0.875\tnan\n");
    const std::string lines = folder.read("new/3/metrics.jsonl");
    EXPECT_EQ(lines.find("{\"event\":\"start\",\"version\":"), 0u) << lines;
    EXPECT_NE(lines.find(",\"mode\":\"compare\",\"model\":\"model.pt\",\"card\":{\"format\":1}}\n"
        "{\"event\":\"report\",\"time\":0.30000000000000004,\"samples\":7,"
        "\"rmse\":{\"U\":0.5,\"p\":12},\"skill\":{\"U\":0.875,\"p\":null}}\n"
        "{\"event\":\"warning\",\"message\":\"cell 3 \\\"x\\\"\"}\n"), std::string::npos) << lines;
    EXPECT_EQ(record.text(7, values),
        "    samples = 7\n    U: rmse = 0.5, skill = 0.875\n    p: rmse = 12, skill = nan");
}


TEST(MeasureRecord, EndsWithCachesStagesAndCounts)
{
    const TemporaryFolder folder;
    MeasureRecord record(folder / "", "closure", "executions", {"minimum"}, {"nut"});
    Profiler::Stage stage;
    stage.name = "predict";
    stage.seconds = 1.5;
    record.end({stage}, {}, 6.25, {{"edgeFeatures", 5, 0.125, {{"start", 1}, {"geometry", 4}}}},
        {{"outliers", 11}});

    EXPECT_EQ(folder.read("metrics.jsonl"),
        "{\"event\":\"end\",\"builds\":{\"edgeFeatures\":5},"
        "\"reasons\":{\"edgeFeatures\":{\"start\":1,\"geometry\":4}},"
        "\"buildSeconds\":{\"edgeFeatures\":0.125},\"seconds\":{\"predict\":1.5},"
        "\"wallSeconds\":6.25,\"counts\":{\"outliers\":11}}\n");
}


TEST(MeasureRecord, SaysWhereItCannotWrite)
{
    const TemporaryFolder folder;
    folder.write("file", "in the way");
    EXPECT_THROW(MeasureRecord(folder / "file", "closure", "n", {}, {}), Error);
}

}
