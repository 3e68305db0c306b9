// SPDX-License-Identifier: GPL-3.0-or-later
#include "profile/Summary.hpp"

#include <gtest/gtest.h>

namespace inSitu
{
namespace
{

TEST(CacheLedger, CountsBuildsByReason)
{
    CacheLedger ledger;

    ledger.count("geometry", "topology", 0.25);
    ledger.count("topology", "topology", 1.5);
    ledger.count("geometry", "geometry", 0.5);
    ledger.count("geometry", "geometry", 0.125);

    ASSERT_EQ(ledger.records().size(), 2u);
    const CacheRecord& geometry = ledger.records()[0];
    EXPECT_EQ(geometry.cache, "geometry");
    EXPECT_EQ(geometry.builds, 3);
    EXPECT_DOUBLE_EQ(geometry.seconds, 0.875);
    ASSERT_EQ(geometry.reasons.size(), 2u);
    EXPECT_EQ(geometry.reasons[1].name, "geometry");
    EXPECT_EQ(geometry.reasons[1].builds, 2);
}


TEST(Summary, GivesSharesAmdahlBoundsAndTheRestToTheSolver)
{
    CacheLedger ledger;
    ledger.count("topology", "topology", 0.002);

    // 8 s of 40 are 20 %: without them the run would be 1/(1 - 0.2) = 1.25 times as fast
    const std::string text = summaryTable({{"train", 7, 8, 7.5, 9.25}, {"gather", 7, 2, 2, 2}}, 40,
        ledger.records());

    EXPECT_NE(text.find("train               8.000      7.500      9.250    20.00%     1.25"),
        std::string::npos) << text;
    EXPECT_NE(text.find("solver             30.000     30.000     30.000    75.00%     4.00"),
        std::string::npos) << text;
    EXPECT_NE(text.find("topology                1     0.0020  topology 1"), std::string::npos) << text;
}

}
}
