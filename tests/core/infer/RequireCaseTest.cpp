// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/requireCase.hpp"

#include "WaveCase.hpp"
#include "base/Error.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace inSitu
{
namespace
{

using testing::HasSubstr;
using testing::Not;

//- A card that fits the wave
ModelCard cardOfWave(WaveCase& host)
{
    const TrainingCase theCase = host.theCase();
    ModelCard card;
    card.inputs = theCase.fields;
    card.targets = theCase.fields;
    card.staticColumns = theCase.staticColumns;
    card.edgeColumns = host.mesh().state.geometry->edgeFeatureNames();
    card.features = {"deltaT"};
    return card;
}


std::string faultOf(const std::function<void()>& body)
{
    try
    {
        body();
        return "nothing";
    }
    catch (const Error& fault)
    {
        return fault.what();
    }
}

}


TEST(RequireCase, TakesACaseThatFits)
{
    WaveCase host;
    requireCase(cardOfWave(host), host.theCase(), host.mesh());

    ModelCard brief = cardOfWave(host);
    brief.inputs[0].type.clear();
    brief.inputs[0].dimensions.clear();
    brief.staticColumns.clear();
    brief.edgeColumns.clear();
    brief.arguments = {"nodes"};
    requireCase(brief, host.theCase(), host.mesh());
}


TEST(RequireCase, NamesEveryDifference)
{
    WaveCase host;
    ModelCard card = cardOfWave(host);
    card.inputs[0].type = "volTensorField";
    card.inputs[1].dimensions = {0, 1.5, -2, 0, 0, 0, 0};
    card.targets[0].columnNames = {"Ux", "Uy", "Uz"};
    card.features = {"Reynolds"};
    card.staticColumns.pop_back();
    card.edgeColumns.push_back("weight");

    const std::string fault = faultOf([&] { requireCase(card, host.theCase(), host.mesh()); });

    EXPECT_THAT(fault, HasSubstr("the model does not fit the case: input U, type: the model has"
        " volTensorField, the case volVectorField"));
    EXPECT_THAT(fault, HasSubstr("input p, dimensions: the model has [0 1.5 -2 0 0 0 0], the case"
        " [0 2 -2 0 0 0 0]"));
    EXPECT_THAT(fault, HasSubstr("target U, columns: the model has Ux Uy Uz, the case Ux Uy"));
    EXPECT_THAT(fault, HasSubstr("feature Reynolds: known here are deltaT"));
    EXPECT_THAT(fault, HasSubstr("node columns: the model has isCell"));
    EXPECT_THAT(fault, HasSubstr("edge columns: the model has "));
    EXPECT_THAT(fault, HasSubstr(" weight, the case "));
    EXPECT_THAT(fault, Not(HasSubstr("input p, type")));
}


TEST(RequireCase, ComparesEdgeInputs)
{
    WaveCase host;
    host.addFlux();
    ModelCard card = cardOfWave(host);
    card.edgeInputs = {host.theCase().fields[2]};
    card.inputs.pop_back();
    card.targets.pop_back();
    card.edgeColumns.push_back("phi");
    requireCase(card, host.theCase(), host.mesh());

    card.edgeInputs[0].oriented = false;
    card.edgeInputs[0].dimensions = {1, 0, -1, 0, 0, 0, 0};
    const std::string fault = faultOf([&] { requireCase(card, host.theCase(), host.mesh()); });
    EXPECT_THAT(fault, HasSubstr("edge input phi, orientation: the model has none, the case one"));
    EXPECT_THAT(fault, HasSubstr("edge input phi, dimensions: the model has [1 0 -1"));

    card.edgeColumns.pop_back();
    EXPECT_THAT(faultOf([&] { requireCase(card, host.theCase(), host.mesh()); }),
        HasSubstr("edge columns: the model has dx dy length, the case dx dy length phi"));
}


TEST(RequireCase, DoesNotAskForWhatAModelDoesNotTake)
{
    WaveCase host;
    ModelCard card = cardOfWave(host);
    card.staticColumns = {"age"};
    card.edgeColumns = {"tension"};
    card.arguments = {"nodes", "edges"};
    const std::string fault = faultOf([&] { requireCase(card, host.theCase(), host.mesh()); });
    EXPECT_THAT(fault, HasSubstr("edge columns: the model has tension"));
    EXPECT_THAT(fault, Not(HasSubstr("age")));
}


TEST(RequireCase, WantsTheSameOfAFileThatReplacesAnother)
{
    WaveCase host;
    const ModelCard before = cardOfWave(host);
    ModelCard now = before;
    now.samples = 77;
    now.mesh = "another one";
    requireSameColumns(before, now, "model.pt");

    const auto fault = [&](const std::function<void(ModelCard&)>& change)
    {
        ModelCard other = before;
        change(other);
        return faultOf([&] { requireSameColumns(before, other, "model.pt"); });
    };
    EXPECT_THAT(fault([](ModelCard& c) { c.inputs.pop_back(); }),
        HasSubstr("model \"model.pt\" was replaced by another one that does not fit: inputs were"
            " volVectorField U(Ux Uy) volScalarField p(p) and are volVectorField U(Ux Uy)"));
    EXPECT_THAT(fault([](ModelCard& c) { c.targets[1].type = "surfaceScalarField"; }),
        HasSubstr("targets were"));
    EXPECT_THAT(fault([](ModelCard& c) { c.features.clear(); }), HasSubstr("features were deltaT"));
    EXPECT_THAT(fault([](ModelCard& c) { c.horizon = 4; }),
        HasSubstr("target and horizon were increment 1 and are increment 4"));
    EXPECT_THAT(fault([](ModelCard& c) { c.horizonTime = 0.25; }),
        HasSubstr("and are increment 0.25 s"));
    EXPECT_THAT(fault([](ModelCard& c) { c.increment = false; }), HasSubstr("are value 1"));
    EXPECT_THAT(fault([](ModelCard& c) { c.boundaryNodes = false; }),
        HasSubstr("boundary rows were there and are not there"));
    EXPECT_THAT(fault([](ModelCard& c) { c.precision = "float64"; }), HasSubstr("precisions were"));
    EXPECT_THAT(fault([](ModelCard& c) { c.staticColumns = {"isCell"}; }),
        HasSubstr("node columns were"));
    EXPECT_THAT(fault([](ModelCard& c) { c.edgeColumns = {"dx"}; }), HasSubstr("edge columns were"));
    EXPECT_THAT(fault([](ModelCard& c) { c.edgeInputs = {c.inputs[1]}; }),
        HasSubstr("edge inputs were  and are volScalarField p(p)"));
}

}
