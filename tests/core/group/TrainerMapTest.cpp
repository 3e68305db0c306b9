// SPDX-License-Identifier: GPL-3.0-or-later
#include "group/TrainerMap.hpp"

#include <gmock/gmock.h>

using namespace inSitu;
using testing::ElementsAre;


TEST(TrainerMap, GroupsAreNeighboursOfNearlyEqualNumber)
{
    const TrainerMap map = TrainerMap::of({0, 0, 0, 0, 0, 0, 0}, 3);
    EXPECT_THAT(map.members, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3),
        ElementsAre(4, 5, 6)));
    EXPECT_THAT(map.trainerOf, ElementsAre(0, 0, 1, 1, 2, 2, 2));
}


TEST(TrainerMap, GroupsStayOnTheirNode)
{
    // Dealt out in turn, on nodes of different size
    const TrainerMap map = TrainerMap::of({0, 1, 0, 1, 0, 5, 0}, 2);
    EXPECT_THAT(map.members, ElementsAre(ElementsAre(0, 2), ElementsAre(1), ElementsAre(3),
        ElementsAre(4, 6), ElementsAre(5)));
    EXPECT_THAT(map.trainerOf, ElementsAre(0, 1, 0, 2, 3, 4, 3));
    EXPECT_EQ(map.nTrainers(), 5);
    EXPECT_EQ(map.nRanks(), 7);
}


TEST(TrainerMap, AllTrainWithoutANumberOrWithOneTooLarge)
{
    for (const int number : {0, 3, 9})
    {
        EXPECT_THAT(TrainerMap::of({0, 0, 0}, number).members,
            ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2))) << number;
    }
}
