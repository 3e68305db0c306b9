/*---------------------------------------------------------------------------*\
  =========                 |
  \\      /  F ield         | inSituFoam: neural networks trained beside
   \\    /   O peration     | OpenFOAM solvers
    \\  /    A nd           |
     \\/     M anipulation  |
-------------------------------------------------------------------------------
License
    This file is part of inSituFoam, an extension of OpenFOAM.

    inSituFoam is free software: you can redistribute it and/or modify it
    under the terms of the GNU General Public License as published by
    the Free Software Foundation, either version 3 of the License, or
    (at your option) any later version.

    inSituFoam is distributed in the hope that it will be useful, but WITHOUT
    ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
    FITNESS FOR A PARTICULAR PURPOSE.  See the GNU General Public License
    for more details.

    You should have received a copy of the GNU General Public License
    along with inSituFoam: the file LICENSE at its top.

\*---------------------------------------------------------------------------*/

// Before OpenFOAM, which makes a macro of the word Log
#include <gmock/gmock.h>

#include "meshEdges.H"
#include "unitConversion.H"

using namespace Foam;
using functionObjects::graphBuilder;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

point turned(const point& p, const point& axis, const scalar degrees)
{
    const scalar angle = degToRad(degrees);
    const vector d(p - axis);
    return axis + vector
    (
        std::cos(angle)*d.x() - std::sin(angle)*d.y(),
        std::sin(angle)*d.x() + std::cos(angle)*d.y(),
        d.z()
    );
}


//- Move the points of the cells for which isMoved(centre) is true
template<class IsMoved, class Move>
void move(fvMesh& mesh, const IsMoved& isMoved, const Move& newPlace)
{
    pointField points(mesh.points());
    labelHashSet done;
    for (label celli = 0; celli < mesh.nCells(); ++celli)
    {
        if (isMoved(mesh.cellCentres()[celli]))
        {
            for (const label pointi : mesh.cellPoints()[celli])
            {
                if (done.insert(pointi))
                {
                    points[pointi] = newPlace(points[pointi]);
                }
            }
        }
    }
    mesh.movePoints(points);
}


const auto rightBlock = [](const point& c) { return c.x() > 1; };

const auto everywhere = [](const point&) { return true; };


//- Area of the part of a face of the plane x = 1 that another covers
scalar overlap(const polyMesh& mesh, const label facei, const label facej)
{
    const boundBox a(mesh.faces()[facei].points(mesh.points()), false);
    const boundBox b(mesh.faces()[facej].points(mesh.points()), false);
    const auto along = [&](const direction d)
    {
        return max(min(a.max()[d], b.max()[d]) - max(a.min()[d], b.min()[d]), scalar(0));
    };
    return along(vector::Y)*along(vector::Z);
}


//- Faces whose cells an edge joins, and its weight
using weights = std::map<std::pair<label, label>, double>;


//- Weights of the edges across the plane between two patches of rectangles:
//  shares of what is covered or, where a part may stay open, of the whole face
weights sharesOfRectangles
(
    const polyMesh& mesh,
    const word& left,
    const word& right,
    const bool ofWholeFace
)
{
    weights result;
    const polyPatch& a = mesh.boundaryMesh()[left];
    const polyPatch& b = mesh.boundaryMesh()[right];
    for (const bool fromRight : {true, false})
    {
        const polyPatch& receiving = fromRight ? a : b;
        const polyPatch& sending = fromRight ? b : a;
        for (label i = 0; i < receiving.size(); ++i)
        {
            const label facei = receiving.start() + i;
            scalar covered = 0;
            for (label j = 0; j < sending.size(); ++j)
            {
                covered += overlap(mesh, facei, sending.start() + j);
            }
            const scalar whole = ofWholeFace ? overlap(mesh, facei, facei) : covered;
            for (label j = 0; j < sending.size(); ++j)
            {
                const scalar area = overlap(mesh, facei, sending.start() + j);
                if (area > 1e-9)
                {
                    result[{facei, sending.start() + j}] = area/whole;
                }
            }
        }
    }
    return result;
}


//- Weights of the edges of a graph through faces of two patches. Each cell has one
//  face there, so that the sender tells the face on its side.
weights weightsOf(const fvMesh& mesh, const word& left, const word& right)
{
    std::map<label, label> faceOfCell;
    for (const word& name : {left, right})
    {
        const polyPatch& patch = mesh.boundaryMesh()[name];
        for (label i = 0; i < patch.size(); ++i)
        {
            faceOfCell[patch.faceCells()[i]] = patch.start() + i;
        }
    }

    const graphBuilder builder(mesh, true);
    const auto graph = builder.graph();
    const auto geometry = builder.geometry(*graph);
    const std::vector<double> features = edgeFeatures(*graph, *geometry);
    const std::size_t width = geometry->nEdgeFeatures();

    weights result;
    for (label e = 0; e < graph->nEdges(); ++e)
    {
        if (graph->isCoupled(e))
        {
            const label facej = faceOfCell.at(graph->senders()[e]);
            result[{graph->faceOf()[e], facej}] = features[e*width + width - 1];
        }
    }
    return result;
}


void expectWeights(const weights& seen, const weights& wanted)
{
    ASSERT_EQ(seen.size(), wanted.size());
    auto want = wanted.begin();
    for (const auto& entry : seen)
    {
        EXPECT_EQ(entry.first, want->first);
        EXPECT_NEAR(entry.second, want->second, 1e-8)
            << "face " << entry.first.first << " from " << entry.first.second;
        ++want;
    }
}


//- OpenFOAM's delta() is the mean of the ways, less what lies between the centres
//  of the two faces
void expectMeanIsDelta(const fvMesh& mesh, const patchMoves& moves)
{
    const std::vector<meshEdge> edges = edgesOneByOne(mesh, false, moves);
    for (const fvPatch& patch : mesh.boundary())
    {
        if (!isA<cyclicAMIPolyPatch>(patch.patch()))
        {
            continue;
        }
        vectorField mean(patch.size(), Zero);
        scalarField total(patch.size(), Zero);
        for (const meshEdge& edge : edges)
        {
            const label i = edge.face - patch.start();
            if (i < 0 || i >= patch.size())
            {
                continue;
            }
            const point other = mesh.faceCentres()[edge.otherFace];
            const point moved =
                moves.count(patch.name()) ? moves.at(patch.name())(other) : other;
            const vector gap(moved - mesh.faceCentres()[edge.face]);
            mean[i] += edge.weight*(edge.way - gap);
            total[i] += edge.weight;
        }
        const vectorField delta(patch.delta());
        forAll(delta, i)
        {
            if (total[i] > 0)
            {
                EXPECT_LT(mag(mean[i]/total[i] - delta[i]), 1e-9)
                    << patch.name().c_str() << " face " << i;
            }
        }
    }
}


//- Ways through the faces of a patch that meet one face each, in the order of faces
vectorField waysThrough(const fvMesh& mesh, const label patchi)
{
    const polyPatch& patch = mesh.boundaryMesh()[patchi];
    const graphBuilder builder(mesh, false);
    const auto graph = builder.graph();
    const std::vector<double> features =
        edgeFeatures(*graph, *builder.geometry(*graph));

    vectorField ways(patch.size(), vector::max);
    for (label e = 0; e < graph->nEdges(); ++e)
    {
        const label i = graph->faceOf()[e] - patch.start();
        if (i >= 0 && i < patch.size())
        {
            EXPECT_EQ(ways[i], vector(vector::max)) << "face " << i << " meets two";
            ways[i] = {features[5*e], features[5*e + 1], features[5*e + 2]};
            EXPECT_NEAR(features[5*e + 4], 1, 1e-9);
        }
    }
    return ways;
}


std::vector<std::tuple<label, label, label>> coupledEdges(const inSitu::MeshGraph& graph)
{
    std::vector<std::tuple<label, label, label>> edges;
    for (label e = 0; e < graph.nEdges(); ++e)
    {
        if (graph.isCoupled(e))
        {
            edges.push_back({graph.receivers()[e], graph.senders()[e], graph.faceOf()[e]});
        }
    }
    return edges;
}

std::vector<double> coupledLengths(const fvMesh& mesh)
{
    const graphBuilder builder(mesh, false);
    const auto graph = builder.graph();
    const auto geometry = builder.geometry(*graph);
    const std::vector<double> features = edgeFeatures(*graph, *geometry);
    const std::size_t width = geometry->nEdgeFeatures();

    std::vector<double> lengths;
    for (label e = 0; e < graph->nEdges(); ++e)
    {
        if (graph->isCoupled(e))
        {
            lengths.push_back(features[e*width + width - 2]);
        }
    }
    std::sort(lengths.begin(), lengths.end());
    return lengths;
}

} // End anonymous namespace


TEST(SlidingInterface, WeightsAreTheSharesOfTheOverlap)
{
    foamCase theCase("sliding");
    fvMesh& mesh = theCase.mesh;

    for (const scalar shift : {0.0, 0.11, -0.2})
    {
        SCOPED_TRACE(shift);
        move(mesh, rightBlock, [=](const point& p) { return p + vector(0, shift, 0); });

        expectWeights
        (
            weightsOf(mesh, "toRight", "toLeft"),
            sharesOfRectangles(mesh, "toRight", "toLeft", false)
        );
        expectGraphOf(mesh, {0, 1, 2}, 91);
        expectMeanIsDelta(mesh, {});
    }
}


TEST(SlidingInterface, FollowsARotationWhileTheInnerGraphStays)
{
    foamCase theCase("rings");
    fvMesh& mesh = theCase.mesh;
    const graphBuilder builder(mesh, true);
    const auto inner = builder.inner();
    const auto rotor = [](const point& c) { return mag(c - vector(0, 0, c.z())) < 1; };

    auto last = coupledEdges(*builder.graph(inner));
    for (const scalar degrees : {11.0, 23.0, 56.0})
    {
        SCOPED_TRACE(degrees);
        move(mesh, rotor, [=](const point& p) { return turned(p, Zero, degrees); });

        expectGraphOf(mesh, {0, 1}, 48);
        expectMeanIsDelta(mesh, {});
        EXPECT_EQ(firstDifference(*inner, *builder.inner()), "");

        const auto now = coupledEdges(*builder.graph(inner));
        EXPECT_NE(now, last);
        EXPECT_GE(now.size(), 2u*(20 + 28 - 4));    // some nodes lie on nodes
        last = now;
    }

    // 90 degrees in all, five cells of the rotor: the picture is that of the start
    const foamCase start("rings");
    EXPECT_THAT
    (
        coupledLengths(mesh),
        testing::Pointwise(testing::DoubleNear(1e-9), coupledLengths(start.mesh))
    );
}


TEST(PeriodicInterface, WayIsThatOfOpenFoamWhileFacesMatch)
{
    for (const char* name : {"periodic", "sectorAMI"})
    {
        SCOPED_TRACE(name);
        const foamCase theCase(name);
        int checked = 0;
        for (const fvPatch& patch : theCase.mesh.boundary())
        {
            if (isA<cyclicAMIPolyPatch>(patch.patch()))
            {
                const vectorField ways(waysThrough(theCase.mesh, patch.index()));
                const vectorField delta(patch.delta());
                forAll(delta, i)
                {
                    EXPECT_LT(mag(ways[i] - delta[i]), 1e-12);
                    ++checked;
                }
            }
        }
        EXPECT_GE(checked, 12);
    }
}


TEST(PeriodicInterface, HoldsWhenItsHalvesNoLongerMatch)
{
    {
        foamCase theCase("periodic");
        const patchMoves moves
        {
            {"left", [](const point& p) { return p - vector(1.2, 0, 0); }},
            {"right", [](const point& p) { return p + vector(1.2, 0, 0); }}
        };
        // The inside slides along the walls, more so at the right end
        move(theCase.mesh, everywhere, [](const point& p)
        {
            return p + vector(0, 0.3*p.x()*p.y()*(0.7 - p.y()), 0);
        });
        expectGraphOf(theCase.mesh, {0, 1, 2}, 36, moves);
        expectMeanIsDelta(theCase.mesh, moves);
    }
    {
        foamCase theCase("sectorAMI");
        const point axis(0.2, -0.1, 0);
        const patchMoves moves
        {
            {"low", [=](const point& p) { return turned(p, axis, -40); }},
            {"high", [=](const point& p) { return turned(p, axis, 40); }}
        };
        // Radii of the inside grow with the angle
        move(theCase.mesh, everywhere, [=](const point& p)
        {
            const vector d(p.x() - axis.x(), p.y() - axis.y(), 0);
            const scalar r = mag(d);
            const scalar more = 0.4*d.y()*(r - 0.5)*(1.2 - r);
            return p + more*d/r;
        });
        expectGraphOf(theCase.mesh, {0, 1, 2}, 20, moves);
        expectMeanIsDelta(theCase.mesh, moves);

        const graphBuilder builder(theCase.mesh, false);
        EXPECT_GT(coupledEdges(*builder.graph()).size(), 12u);
    }
}


TEST(PartialInterface, WeightsAreTheSharesOfTheWholeFace)
{
    foamCase theCase("partial");
    fvMesh& mesh = theCase.mesh;
    const graphBuilder builder(mesh, true);
    const auto inner = builder.inner();

    weights last;
    for (const scalar shift : {0.0, 0.45, -0.7})
    {
        SCOPED_TRACE(shift);
        move(mesh, rightBlock, [=](const point& p) { return p + vector(0, shift, 0); });

        const weights seen = weightsOf(mesh, "rightOpen", "leftOpen");
        expectWeights(seen, sharesOfRectangles(mesh, "rightOpen", "leftOpen", true));
        expectGraphOf(mesh, {0, 1, 2}, 104);
        expectMeanIsDelta(mesh, {});

        EXPECT_NE(seen, last);
        EXPECT_EQ(firstDifference(*inner, *builder.inner()), "");
        last = seen;
    }
}


TEST(PartialInterface, FollowsTheMask)
{
    // Faces that overlap others but are shut or half shut all the same
    const foamCase theCase("partial");
    const fvMesh& mesh = theCase.mesh;
    const auto& patch =
        refCast<const cyclicACMIPolyPatch>(mesh.boundaryMesh()["rightOpen"]);
    const weights open = weightsOf(mesh, "rightOpen", "leftOpen");
    scalarField& mask = const_cast<scalarField&>(patch.mask());
    mask[1] = cyclicACMIPolyPatch::tolerance();
    mask[4] *= 0.375;

    const weights seen = weightsOf(mesh, "rightOpen", "leftOpen");

    weights wanted;
    for (const auto& entry : open)
    {
        const label i = entry.first.first - patch.start();
        if (i != 1)
        {
            wanted[entry.first] = entry.second*(i == 4 ? 0.375 : 1);
        }
    }
    EXPECT_LT(wanted.size(), open.size());
    expectWeights(seen, wanted);
}


TEST(PartialInterface, KeepsTheWeightColumnWhenAllIsClosed)
{
    foamCase theCase("partial");
    fvMesh& mesh = theCase.mesh;
    move(mesh, rightBlock, [](const point& p) { return p + vector(0, 5, 0); });

    const graphBuilder builder(mesh, true);
    const auto graph = builder.graph();
    const auto geometry = builder.geometry(*graph);

    EXPECT_EQ(firstDifference(*graph, *builder.inner()), "");
    EXPECT_EQ(geometry->edgeFeatureNames().back(), "weight");
    expectGraphOf(mesh, {0, 1, 2}, 104);
}


TEST(UnsupportedPatches, AreRefusedByName)
{
    const auto message = [](const char* name)
    {
        const foamCase theCase(name);
        try
        {
            graphBuilder(theCase.mesh, true);
        }
        catch (const inSitu::Error& err)
        {
            return std::string(err.what());
        }
        return std::string();
    };

    EXPECT_THAT
    (
        message("repeating"),
        testing::HasSubstr("patch toRight of type cyclicPeriodicAMI")
    );
    EXPECT_THAT(message("overset"), testing::HasSubstr("patch lid of type overset"));
}

// ************************************************************************* //
