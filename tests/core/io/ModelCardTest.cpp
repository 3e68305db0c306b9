// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/ModelCard.hpp"

#include "Mutator.hpp"
#include "base/Error.hpp"

#include <gtest/gtest.h>

namespace inSitu
{
namespace
{

ModelCard fullCard()
{
    ModelCard card;
    card.producer = "inSituFoam 9.8.7";
    card.torch = "2.3.4";
    card.versions = {"OpenFOAM v1912 DP Int32", "a \"quoted\" word"};
    card.object = "surrogate";
    card.inputs =
    {
        {"U", "volVectorField", 1, {}, {"Ux", "Uy"}, {0, 1, -1, 0, 0, 0, 0}},
        {"grad(U)", "volTensorField", 1, {}, {"grad(U)xx", "grad(U)xy", "grad(U)yx"}, {}}
    };
    card.targets = {{"nut", "volScalarField", 1, {}, {"nut"}, {0, 2, -1, 0, 0, 0, 0}}};
    card.edgeInputs =
    {
        {"phi", "surfaceScalarField", 1, {}, {"phi"}, {0, 3, -1, 0, 0, 0, 0}, true},
        {"Uf", "surfaceVectorField", 1, {}, {"Ufx", "Ufy"}, {}}
    };
    card.edgeInputScale = {0.5, 3, 4};
    card.features = {"deltaT"};
    card.staticColumns = {"isCell", "U fixed"};
    card.edgeColumns = {"dx", "dy", "length"};
    card.increment = false;
    card.horizon = 3;
    card.boundaryNodes = false;
    card.mesh = "47 cells";
    card.precision = "float64";
    card.parameters = 4711;
    card.samples = 23;
    card.steps = 29;
    card.targetMinimum = {-0.1};
    card.targetMaximum = {1.0/3};
    card.arguments = {"edges", "nodes"};
    card.configuration = "{\"horizon\":3,\"training\":{\"model\":{\"type\":\"mlp\"}}}";
    return card;
}


std::string foreign(const std::string& more)
{
    return "{\"format\": 1, \"inputs\": [{\"name\": \"T\"}], \"targets\": [{\"name\": \"q\"}], "
        "\"target\": \"value\"" + (more.empty() ? "" : ", " + more) + "}";
}


void expectRefused(const std::string& text, const std::string& part)
{
    try
    {
        ModelCard::parse(text, "net.pt.card.json");
        ADD_FAILURE() << "taken: " << text;
    }
    catch (const Error& fault)
    {
        const std::string message = fault.what();
        EXPECT_NE(message.find("net.pt.card.json"), std::string::npos) << message;
        EXPECT_NE(message.find(part), std::string::npos) << message << "\n   for " << text;
    }
}

}


TEST(ModelCard, ComesBackFromItsText)
{
    const ModelCard card = fullCard();
    const ModelCard read = ModelCard::parse(card.json(), "card");

    EXPECT_EQ(read.json(), card.json());
    EXPECT_EQ(read.versions, card.versions);
    EXPECT_EQ(read.inputs[1].columnNames, card.inputs[1].columnNames);
    EXPECT_EQ(read.inputs[0].dimensions, card.inputs[0].dimensions);
    EXPECT_TRUE(read.inputs[1].dimensions.empty());
    EXPECT_EQ(read.targetMaximum[0], 1.0/3);
    EXPECT_EQ(read.arguments, card.arguments);
    EXPECT_EQ(read.horizon, 3);
    EXPECT_EQ(read.parameters, 4711);
    EXPECT_FALSE(read.increment);
    EXPECT_FALSE(read.boundaryNodes);
    EXPECT_EQ(read.nInputColumns(), 6);
    EXPECT_EQ(read.nTargetColumns(), 1);
    EXPECT_EQ(read.nEdgeInputs(), 3);
    EXPECT_TRUE(read.edgeInputs[0].oriented);
    EXPECT_FALSE(read.edgeInputs[1].oriented);
    EXPECT_EQ(read.edgeInputScale, card.edgeInputScale);

    ModelCard seconds = card;
    seconds.horizonTime = 0.07;
    EXPECT_EQ(*ModelCard::parse(seconds.json(), "card").horizonTime, 0.07);
    EXPECT_FALSE(ModelCard::parse(card.json(), "card").horizonTime);
}


TEST(ModelCard, OfAForeignModelNeedsFieldsAndTargetOnly)
{
    const ModelCard card = ModelCard::parse(foreign("\"comment\": {\"by\": [null, 3]}"), "card");

    EXPECT_EQ(card.inputs[0].columnNames, std::vector<std::string>{"T"});
    EXPECT_TRUE(card.inputs[0].type.empty());
    EXPECT_TRUE(card.targets[0].dimensions.empty());
    EXPECT_EQ(card.horizon, 1);
    EXPECT_TRUE(card.boundaryNodes);
    EXPECT_EQ(card.precision, "float32");
    EXPECT_TRUE(card.arguments.empty());
    EXPECT_TRUE(card.targetMinimum.empty());
    EXPECT_EQ(card.configuration, "{}");
    EXPECT_EQ(card.nInputColumns(), 1);
}


TEST(ModelCard, TakesNullForWhatIsNotKnown)
{
    const ModelCard card = ModelCard::parse(
        foreign("\"horizon\": 0, \"horizonTime\": null, \"producer\": null"), "card");

    EXPECT_EQ(card.horizon, 0);
    EXPECT_FALSE(card.horizonTime);
}


TEST(ModelCard, NamesWhatIsWrong)
{
    expectRefused("", "is not valid JSON");
    expectRefused("[1, 2]", "is not a JSON object");
    expectRefused("{}", "has format 0");
    expectRefused("{\"format\": 2}", "this version reads 1");
    expectRefused("{\"format\": \"1\"}", "no number");
    expectRefused("{\"format\": 1, \"target\": \"increment\"}", "names no inputs");
    expectRefused("{\"format\": 1, \"target\": \"value\", \"inputs\": [{\"name\": \"T\"}]}",
        "names no targets");
    expectRefused(foreign("\"target\": \"value\""), "has the key \"target\" twice");
    expectRefused(
        "{\"format\": 1, \"inputs\": [{\"name\": \"T\"}], \"targets\": [{\"name\": \"T\"}]}",
        "has target ''; it is increment or value");
    expectRefused(foreign("\"horizon\": 1.5"), "no integer");
    expectRefused(foreign("\"horizon\": -1"), "horizon");
    expectRefused(foreign("\"horizon\": 1e9"), "1 to 100000 executions");
    expectRefused(foreign("\"horizon\": 1e999"), "no number");
    expectRefused(foreign("\"horizonTime\": 0"), "horizon");
    expectRefused(foreign("\"horizonTime\": NaN"), "no number");
    expectRefused(foreign("\"horizonTime\": \"0.1\""), "no number");
    expectRefused(foreign("\"boundaryNodes\": \"true\""), "neither true nor false");
    expectRefused(foreign("\"boundaryNodes\": 1"), "neither true nor false");
    expectRefused(foreign("\"producer\": 7"), "no text in quotes");
    expectRefused(foreign("\"producer\": [\"a\"]"), "wants one value");
    expectRefused(foreign("\"features\": \"deltaT\""), "no list where features");
    expectRefused(foreign("\"arguments\": [\"nodes\", \"graph\"]"),
        "argument 'graph'; known are nodes static edge_index edges");
    expectRefused(foreign("\"precision\": \"float16\""), "known are float32 float64");
    expectRefused(foreign("\"targetMinimum\": [1]"), "of 1 and 0 columns for 1");
    expectRefused(foreign("\"targetMinimum\": [1, 2], \"targetMaximum\": [2, 3]"), "of 2 and 2");
    expectRefused(foreign("\"targetMinimum\": [3], \"targetMaximum\": [2]"), "above");
}


TEST(ModelCard, NamesWhatIsWrongWithAField)
{
    const auto withInput = [](const std::string& input)
    {
        return "{\"format\": 1, \"target\": \"value\", \"targets\": [{\"name\": \"q\"}], "
            "\"inputs\": [" + input + "]}";
    };
    expectRefused(withInput("{}"), "inputs has a field ''");
    expectRefused(withInput("\"U\""), "is not a JSON object");
    expectRefused(withInput("{\"name\": \"U\", \"columns\": []}"), "without columns");
    expectRefused(withInput("{\"name\": \"U\", \"dimensions\": [0, 1]}"), "2 dimensions instead of 7");
    expectRefused(withInput("{\"name\": \"U\"}, {\"name\": \"U\"}"), "names 'U' twice in inputs");
    for (const char* name : {"../U", "a b", "a;b", "{U}", "it's", "\\u0007"})
    {
        expectRefused(withInput("{\"name\": \"" + std::string(name) + "\"}"), "no name of a field");
    }
    EXPECT_NO_THROW(ModelCard::parse(withInput("{\"name\": \"grad(U)\"}"), "card"));
}


// Whatever is done to the text: an Error, or a card that can be written again
TEST(ModelCard, SurvivesDamage)
{
    const std::string good = fullCard().json();
    const std::vector<std::string> donors{good, foreign("")};
    Mutator mutator(5, donors);
    int refused = 0;
    for (int i = 0; i < 5000; ++i)
    {
        const std::string text = mutator.damaged(good);
        try
        {
            EXPECT_FALSE(ModelCard::parse(text, "card").json().empty());
        }
        catch (const Error&)
        {
            ++refused;
        }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_LT(refused, 5000);
}

}
