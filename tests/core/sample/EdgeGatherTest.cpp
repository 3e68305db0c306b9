// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/EdgeGather.hpp"

#include "base/Error.hpp"

#include <gmock/gmock.h>

#include <limits>

using namespace inSitu;
using testing::ElementsAre;
using testing::ThrowsMessage;
using testing::HasSubstr;

namespace
{

//      3            boundary face 2 of cell 1
//  0 | 1 | 2        faces 0 and 1; a cyclic joins cell 0 (face 3) and cell 2 (face 4)
//
//  Edges, receiver <- sender: 0 <- 1 2,  1 <- 0 2 3,  2 <- 0 1
class EdgeGatherTest : public testing::Test
{
protected:

    static std::shared_ptr<const MeshGraph> ring()
    {
        const std::vector<std::int32_t> owner{0, 1}, neighbour{1, 2}, wall{1}, left{0}, right{2};
        return std::make_shared<MeshGraph>(MeshGraph::fromFaces(3, owner, neighbour,
            {BoundaryPatch{2, wall}},
            {CoupledPatch{3, left, right, 4}, CoupledPatch{4, right, left, 3}}));
    }

    static FieldSpec flux(bool oriented)
    {
        FieldSpec spec{"phi", "surfaceScalarField", 1, {0}, {"phi"}, {}};
        spec.oriented = oriented;
        return spec;
    }

    // The halves of the cyclic do not agree, to tell whose value is taken
    std::vector<FieldView<double>> views() const
    {
        return {{phi, {wallPhi, leftPhi, rightPhi}}, {Uf, {wallUf, leftUf, rightUf}}};
    }

    template<class Value>
    std::vector<Value> taken(EdgeGather& gather)
    {
        std::vector<Value> edges(gather.bytes(*graph)/sizeof(Value));
        EXPECT_EQ(gather.take(graph, views(), edges.data()).field, -1);
        return edges;
    }

    const std::shared_ptr<const MeshGraph> graph = ring();
    std::vector<double> phi{2, -5}, wallPhi{7}, leftPhi{11}, rightPhi{-13};
    std::vector<double> Uf{1, 99, 2, 3, 99, 4}, wallUf{5, 99, 6}, leftUf{7, 99, 8},
        rightUf{9, 99, 10};
};

}


TEST_F(EdgeGatherTest, AFluxIsPositiveFromSenderToReceiver)
{
    EdgeGather gather(EdgeLayout::of({flux(true)}, {0}), Precision::float64);

    EXPECT_THAT(taken<double>(gather), ElementsAre(-2, -11, 2, 5, -7, 13, -5));
}


TEST_F(EdgeGatherTest, AFieldWithoutOrientationIsThatOfTheFace)
{
    EdgeGather gather(EdgeLayout::of({flux(false)}, {0}), Precision::float32);

    EXPECT_THAT(taken<float>(gather), ElementsAre(2, 11, 2, -5, 7, -13, -5));
}


TEST_F(EdgeGatherTest, EachColumnHasTheOrientationOfItsField)
{
    const FieldSpec vectors{"Uf", "surfaceVectorField", 3, {0, 2}, {"Ufx", "Ufz"}, {}};
    EdgeGather gather(EdgeLayout::of({flux(true), vectors}, {1, 0}), Precision::float64);
    ASSERT_EQ(gather.nColumns(), 3);

    EXPECT_THAT(taken<double>(gather), ElementsAre(1, 2, -2,  7, 8, -11,  1, 2, 2,  3, 4, 5,
        5, 6, -7,  9, 10, 13,  3, 4, -5));
}


TEST_F(EdgeGatherTest, AValueThatIsNotFiniteIsFoundAtTheReceiver)
{
    EdgeGather gather(EdgeLayout::of({flux(true)}, {0}), Precision::float32);
    std::vector<float> edges(7);

    rightPhi[0] = std::numeric_limits<double>::infinity();
    const NonFinite infinite = gather.take(graph, views(), edges.data());
    EXPECT_EQ(infinite.field, 0);
    EXPECT_EQ(infinite.row, 2);

    rightPhi[0] = 1;
    wallPhi[0] = 1e300;
    EXPECT_EQ(gather.take(graph, views(), edges.data()).row, 1);
    wallPhi[0] = 7;
    EXPECT_EQ(gather.take(graph, views(), edges.data()).field, -1);
}


TEST_F(EdgeGatherTest, FollowsTheGraphAndRefusesFieldsOfAnotherOne)
{
    EdgeGather gather(EdgeLayout::of({flux(true)}, {0}), Precision::float64);
    taken<double>(gather);

    const std::vector<std::int32_t> owner{0, 0}, neighbour{1, 2};
    const auto other = std::make_shared<const MeshGraph>(MeshGraph::fromFaces(3, owner, neighbour));
    std::vector<double> few(4);
    gather.take(other, std::vector<FieldView<double>>{{phi, {}}}, few.data());
    EXPECT_THAT(few, ElementsAre(-2, 5, 2, -5));

    EXPECT_THAT([&] { gather.take(other, views(), few.data()); },
        ThrowsMessage<Error>(HasSubstr("does not fit")));
}
