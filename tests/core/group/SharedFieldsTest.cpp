// SPDX-License-Identifier: GPL-3.0-or-later
#include "group/SharedFields.hpp"

#include "base/Error.hpp"
#include "ThreadComm.hpp"

#include <gmock/gmock.h>

using namespace inSitu;
using testing::ElementsAreArray;

namespace
{

//- A vector on cells and two patches, and a flux on internal faces, these patches, and a cut
struct Host
{
    Host(int rank, double time)
    :
        nCells(3 + 2*rank),
        nFaces(4 + rank),
        nCut(rank == 1 ? 0 : 2)
    {
        const auto fill = [&](std::vector<double>& values, int n, double first)
        {
            for (int i = 0; i < n; ++i)
            {
                values.push_back(100*rank + first + 0.5*i + 1000*time);
            }
        };
        fill(U, 3*nCells, 1);
        fill(U1, 3, 20);
        fill(U2, 6, 30);
        fill(phi, nFaces, 40);
        fill(phi1, 1, 50);
        fill(phi2, 2, 60);
        fill(phiCut, nCut, 70);
    }

    std::vector<FieldView<double>> views() const
    {
        return {{U, {U1, U2}}, {phi, {phi1, phi2, phiCut}}};
    }

    int nCells, nFaces, nCut;
    std::vector<double> U, U1, U2, phi, phi1, phi2, phiCut;
};


std::vector<double> joined(const std::vector<std::vector<double>>& parts)
{
    std::vector<double> all;
    for (const auto& part : parts)
    {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

}


TEST(SharedFields, TheTrainerSeesTheFieldsOfAll)
{
    onRanks(3, [](Comm& comm)
    {
        SharedFields fields(borrowed(comm), {3, 1}, 2);
        const FieldView<double>* first = nullptr;
        for (const double time : {0.0, 1.0, 2.0})
        {
            const Host here(comm.rank(), time);
            if (time == 0)
            {
                fields.setRows(here.nCells, 3);
            }
            const std::vector<FieldView<double>>& all = fields.share(here.views());
            if (comm.isMaster())
            {
                const Host a(0, time), b(1, time), c(2, time);
                EXPECT_THAT(all[0].cells, ElementsAreArray(joined({a.U, b.U, c.U})));
                EXPECT_THAT(all[0].patches[0],
                    ElementsAreArray(joined({a.U1, a.U2, b.U1, b.U2, c.U1, c.U2})));
                EXPECT_TRUE(all[0].patches[1].empty());
                EXPECT_THAT(all[1].cells, ElementsAreArray(joined({a.phi, b.phi, c.phi})));
                EXPECT_THAT(all[1].patches[0],
                    ElementsAreArray(joined({a.phi1, a.phi2, b.phi1, b.phi2, c.phi1, c.phi2})));
                EXPECT_THAT(all[1].patches[1], ElementsAreArray(joined({a.phiCut, c.phiCut})));
                EXPECT_TRUE(!first || first == all.data()) << "the memory is used again";
                first = all.data();

                Span<double> results = fields.results();
                ASSERT_EQ(results.size(), 2u*(3 + 5 + 7));
                for (std::size_t i = 0; i < results.size(); ++i)
                {
                    results[i] = 0.25*i + time;
                }
            }
            const Span<const double> mine = fields.meet();
            const int before[] = {0, 3, 8};
            ASSERT_EQ(mine.size(), 2u*here.nCells);
            for (std::size_t i = 0; i < mine.size(); ++i)
            {
                EXPECT_EQ(mine[i], 0.25*(2*before[comm.rank()] + i) + time);
            }
        }

        // One copy for all, but for the ends of the blocks
        const std::size_t values = 3*(3 + 5 + 7) + 3*9 + (4 + 5 + 6) + 9 + 4 + 2*15;
        EXPECT_GE(fields.bytes(), sizeof(double)*values);
        EXPECT_LE(fields.bytes(), sizeof(double)*values + 7*64);
    });
}


TEST(SharedFields, OtherRowsHaveOtherPlaces)
{
    onRanks(2, [](Comm& comm)
    {
        SharedFields fields(borrowed(comm), {1}, 1);
        for (const std::size_t n : {4, 9, 2})
        {
            const std::vector<double> cells(n + comm.rank(), 7.5 + comm.rank());
            const std::vector<FieldView<double>> views{{cells, {}}};
            if (n == 9)
            {
                EXPECT_THROW(fields.share(views), Error);
                comm.sum(Span<double>());
            }
            fields.setRows(static_cast<std::int64_t>(cells.size()), 0);
            const auto& all = fields.share(views);
            if (comm.isMaster())
            {
                ASSERT_EQ(all[0].cells.size(), 2*n + 1);
                EXPECT_EQ(all[0].cells[n - 1], 7.5);
                EXPECT_EQ(all[0].cells[n], 8.5);
            }
            fields.meet();
        }
    });
}
