// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/TrainingRecord.hpp"

#include "TemporaryFolder.hpp"
#include "base/Error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace inSitu
{
namespace
{

class TrainingRecordTest : public testing::Test
{
protected:

    void SetUp() override
    {
        std::filesystem::remove_all(folder);
    }

    std::vector<std::string> lines(const std::string& file) const
    {
        std::ifstream stream(folder + '/' + file);
        std::vector<std::string> result;
        for (std::string line; std::getline(stream, line);)
        {
            result.push_back(line);
        }
        return result;
    }

    TrainingRecord::Report report(double time) const
    {
        return {time, 7, 40, 23, 0.3125, 1e-3, 2.5, {0.5, 12}, {0.875, std::nan("")}};
    }

    const TemporaryFolder temporary;
    const std::string folder = temporary/"trainingRecord";
};


TEST_F(TrainingRecordTest, WritesOneTabSeparatedRowPerReport)
{
    TrainingRecord record(folder, {"U", "p"});

    record.report(report(0.1));
    record.report(report(0.30000000000000004));

    const auto table = lines("training.dat");
    ASSERT_EQ(table.size(), 3u);
    EXPECT_EQ(table[0], "# Time\tstep\tsamples\tloss\tlearningRate\tgradientNorm"
        "\trmse(U)\trmse(p)\tskill(U)\tskill(p)");
    EXPECT_EQ(table[1], "0.1\t40\t23\t0.3125\t0.001\t2.5\t0.5\t12\t0.875\tnan");
    EXPECT_EQ(table[2].substr(0, 20), "0.30000000000000004\t");
}


TEST_F(TrainingRecordTest, WritesMetricsThatAreOneObjectPerLine)
{
    TrainingRecord record(folder, {"U", "p"});

    record.report(report(0.1));
    record.warning("disk \"full\"");
    record.rebuild(0.25, "geometry", "topology", 3);
    record.end({{{"train", 3, 1.5, 1.5, 1.5}}, {}, 6,
        {{"geometry", 4, 0.125, {{"start", 1}, {"topology", 3}}}}, 17, {{"gap", 4}},
        {{"forward", 3, 2.25, 2.25, 2.25}}});

    const auto metrics = lines("metrics.jsonl");
    ASSERT_EQ(metrics.size(), 4u);
    EXPECT_EQ(metrics[0], "{\"event\":\"report\",\"time\":0.1,\"timeIndex\":7,\"step\":40,\"samples\":23,"
        "\"loss\":0.3125,\"learningRate\":0.001,\"gradientNorm\":2.5,"
        "\"rmse\":{\"U\":0.5,\"p\":12},\"skill\":{\"U\":0.875,\"p\":null}}");
    EXPECT_EQ(metrics[1], "{\"event\":\"warning\",\"message\":\"disk \\\"full\\\"\"}");
    EXPECT_EQ(metrics[2], "{\"event\":\"rebuild\",\"time\":0.25,\"cache\":\"geometry\","
        "\"reason\":\"topology\",\"builds\":3}");
    EXPECT_EQ(metrics[3], "{\"event\":\"end\",\"builds\":{\"geometry\":4},"
        "\"reasons\":{\"geometry\":{\"start\":1,\"topology\":3}},"
        "\"buildSeconds\":{\"geometry\":0.125},\"seconds\":{\"train\":1.5},"
        "\"secondsBeside\":{\"forward\":2.25},\"wallSeconds\":6,\"mapped\":17,"
        "\"dropped\":{\"gap\":4}}");
}


TEST_F(TrainingRecordTest, RefusesAFolderThatCannotBeMade)
{
    std::ofstream(folder) << "a file, not a folder";

    try
    {
        TrainingRecord record(folder + "/below", {"U"});
        FAIL() << "no error";
    }
    catch (const Error& error)
    {
        EXPECT_NE(std::string(error.what()).find(folder + "/below"), std::string::npos);
    }
}

}
}
