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

#include "IFstream.H"
#include "base/Error.hpp"
#include "dictionary.H"
#include "foamNode.H"

#include <fstream>
#include <string>

using namespace Foam;
using inSitu::Node;
using testing::ElementsAre;
using testing::HasSubstr;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

const dictionary& controlDict()
{
    static const dictionary dict
    (
        fileName("system/controlDict"),
        dictionary::null,
        IFstream("system/controlDict")()
    );
    return dict;
}


// Of the first line that holds the text
int lineOf(const std::string& text)
{
    std::ifstream is("system/controlDict");
    std::string line;
    for (int i = 1; std::getline(is, line); ++i)
    {
        if (line.find(text) != std::string::npos)
        {
            return i;
        }
    }
    return -1;
}


std::vector<std::string> texts(const Node& list)
{
    std::vector<std::string> result;
    for (const Node& item : list.items)
    {
        result.push_back(item.text);
    }
    return result;
}


const Node& training()
{
    static const Node node =
        functionObjects::foamNode(controlDict().subDict("surrogate"));
    return *node.find("training");
}


std::string complaint(const word& name)
{
    try
    {
        functionObjects::foamNode(controlDict().subDict(name));
    }
    catch (const inSitu::ConfigError& err)
    {
        return err.what();
    }
    return "none";
}

} // End anonymous namespace


TEST(FoamNode, KeepsOrderKindAndPlace)
{
    const Node node = functionObjects::foamNode(controlDict().subDict("surrogate"));

    std::vector<std::string> keys;
    for (const auto& entry : node.entries)
    {
        keys.push_back(entry.first);
    }
    EXPECT_THAT(keys, ElementsAre("type", "inputs", "targets", "horizon", "cellZone", "normaliser",
        "noise", "training"));

    EXPECT_EQ(node.find("type")->text, "meshTrainer");
    EXPECT_EQ(node.find("targets")->kind, Node::Kind::scalar);
    EXPECT_EQ(node.find("inputs")->kind, Node::Kind::list);
    EXPECT_EQ(node.find("training")->kind, Node::Kind::block);

    EXPECT_THAT(node.find("horizon")->file, testing::EndsWith("system/controlDict"));
    EXPECT_EQ(node.find("horizon")->line, lineOf("horizon"));
    EXPECT_EQ(node.find("training")->line, lineOf("learningRate"));
    EXPECT_EQ(training().find("model")->find("type")->line, lineOf("meshGraphNet"));
}


TEST(FoamNode, KeepsTheLinesOfIncludedEntries)
{
    const Node node = functionObjects::foamNode(controlDict().subDict("surrogate"));

    EXPECT_EQ(node.find("noise")->text, "0.25");
    EXPECT_EQ(node.find("noise")->line, 7);
    EXPECT_EQ(node.find("normaliser")->line, 5);
}


TEST(FoamNode, MarksQuotedTexts)
{
    const Node node = functionObjects::foamNode(controlDict().subDict("surrogate"));
    const Node& inputs = *node.find("inputs");

    EXPECT_THAT(texts(inputs), ElementsAre("U", "alpha.*", "p"));
    EXPECT_FALSE(inputs.items[0].quoted);
    EXPECT_TRUE(inputs.items[1].quoted);
    EXPECT_TRUE(node.find("cellZone")->quoted);
}


TEST(FoamNode, NumbersReadBackAsTheyWere)
{
    EXPECT_EQ(training().find("learningRate")->text, "0.001");
    EXPECT_EQ(training().find("ratio")->text, "0.1");
    EXPECT_EQ(training().find("factor")->text, "123456789.5");
}


TEST(FoamNode, MacrosAreExpanded)
{
    EXPECT_EQ(training().find("width")->text, "24");
    EXPECT_EQ(training().find("double")->text, "48");
    EXPECT_EQ(training().find("device")->text, "cuda:1");
    EXPECT_EQ(training().find("nesterov")->text, "yes");
}


TEST(FoamNode, ListsInEveryNotation)
{
    EXPECT_THAT(texts(*training().find("sizes")), ElementsAre("7", "8", "9"));
    EXPECT_THAT(texts(*training().find("same")), ElementsAre("0.25", "0.25", "0.25"));
    EXPECT_THAT(texts(*training().find("typed")), ElementsAre("0.9", "0.999"));
    EXPECT_THAT(texts(*training().find("words")), ElementsAre("one", "two"));
    EXPECT_EQ(training().find("typed")->items[1].line, lineOf("typed"));

    EXPECT_EQ(training().find("none")->kind, Node::Kind::list);
    EXPECT_TRUE(training().find("none")->items.empty());
    EXPECT_EQ(training().find("empty")->kind, Node::Kind::block);

    const Node& nested = *training().find("nested");
    ASSERT_EQ(nested.items.size(), 2u);
    EXPECT_THAT(texts(nested.items[0]), ElementsAre("1", "2"));
    EXPECT_THAT(texts(nested.items[1]), ElementsAre("3"));
}


TEST(FoamNode, ValuesThatAreNeitherOneNorAListAreRefused)
{
    EXPECT_THAT
    (
        complaint("twoValues"),
        AllOf
        (
            HasSubstr("system/controlDict:" + std::to_string(lineOf("betas"))),
            HasSubstr("betas has more than one value")
        )
    );
    EXPECT_THAT
    (
        complaint("inList"),
        HasSubstr("things has a value that cannot be read")
    );
}

// ************************************************************************* //
