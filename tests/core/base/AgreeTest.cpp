// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/agree.hpp"

#include "ThreadComm.hpp"

#include <gmock/gmock.h>

using namespace inSitu;
using testing::Each;

namespace
{

//- What each rank hears of what all have said
std::vector<std::string> heard(const std::vector<std::string>& said)
{
    std::vector<std::string> texts(said.size());
    onRanks(static_cast<int>(said.size()), [&](Comm& comm)
        { texts[comm.rank()] = firstText(comm, said[comm.rank()]); });
    return texts;
}

}


TEST(Agree, NamesTheFirstRankThatHasSomethingToSay)
{
    EXPECT_THAT(heard({"", "no disk", "no memory"}), Each("rank 1: no disk"));
    EXPECT_THAT(heard({"no disk", "no disk", "no memory"}), Each("rank 0: no disk"));
    EXPECT_THAT(heard({"no disk", "no disk", ""}), Each("rank 0: no disk"));
    EXPECT_THAT(heard({"", "", ""}), Each(""));
}


TEST(Agree, NamesNoRankForWhatIsTrueOfAll)
{
    EXPECT_THAT(heard({"no disk", "no disk", "no disk"}), Each("no disk"));
    EXPECT_THAT(heard({"no disk"}), Each("no disk"));
}
