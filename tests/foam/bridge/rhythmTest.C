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

#include "Time.H"
#include "addToRunTimeSelectionTable.H"
#include "executionRhythm.H"
#include "timeFunctionObject.H"

#include <map>
#include <string>

using namespace Foam;
using functionObjects::executionRhythm;
using testing::HasSubstr;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

//- Per object its executions as text: "3 6 9": r regular, g after a gap, x extra
std::map<std::string, std::string> beats;

} // End anonymous namespace


namespace Foam
{
namespace functionObjects
{

//- Notes what its rhythm says at each execution, under OpenFOAM's own time controls
class beatProbe
:
    public timeFunctionObject
{
    executionRhythm rhythm_;

public:

    TypeName("beatProbe");

    beatProbe(const word& name, const Time& runTime, const dictionary& dict)
    :
        timeFunctionObject(name, runTime),
        rhythm_(runTime, dict)
    {
        beats[name].clear();
    }

    virtual bool execute()
    {
        const char* const letters = "rgx";
        std::string& text = beats[name()];
        text += text.empty() ? "" : " ";
        text += std::to_string(time_.timeIndex());
        text += letters[int(rhythm_.next())];
        return true;
    }

    virtual bool write()
    {
        return true;
    }
};

defineTypeNameAndDebug(beatProbe, 0);
addToRunTimeSelectionTable(functionObject, beatProbe, dictionary);

} // End namespace functionObjects
} // End namespace Foam


namespace
{

struct ExecutionRhythm : testing::Test
{
    static void SetUpTestSuite()
    {
        Time runTime(Time::controlDictName, fileName("."), fileName("."));
        while (runTime.loop())
        {}
    }
};

} // End anonymous namespace


TEST_F(ExecutionRhythm, EveryStepIsRegular)
{
    EXPECT_EQ
    (
        beats["everyStep"],
        "1r 2r 3r 4r 5r 6r 7r 8r 9r 10r 11r 12r 13r 14r 15r 16r 17r 18r 19r 20r"
    );
}


TEST_F(ExecutionRhythm, AWriteOutOfTurnIsExtra)
{
    // Writes at 5, 10, 15, 20, of which 15 is also its turn
    EXPECT_EQ(beats["everyThird"], "3r 5x 6r 9r 10x 12r 15r 18r 20x");
}


TEST_F(ExecutionRhythm, ALateWindowStartsWithAGap)
{
    EXPECT_EQ(beats["late"], "12g 13r 14r 15r");
}


TEST_F(ExecutionRhythm, IntervalsOfTimeAreRegularThoughStepsAreNot)
{
    EXPECT_EQ(beats["byTime"], "2r 5r 7r 10r 12r 15r 17r 20r");
}


TEST_F(ExecutionRhythm, IntervalsShorterThanAStepAreRegular)
{
    EXPECT_EQ(beats["fasterThanSteps"], "1r 2r 3r 4r 5r 6r");
}


TEST_F(ExecutionRhythm, WithoutAControlEveryExecutionIsExtra)
{
    // OpenFOAM writes at 5, 10, 15, 20 and executes before it does
    EXPECT_EQ(beats["never"], "5x 10x 15x 20x");
}


TEST_F(ExecutionRhythm, OtherWritesAreExtraToWriteTimes)
{
    EXPECT_EQ(beats["atWriteTimes"], "4x 5r 8x 10r 12x 15r 16x 20r");
}


TEST_F(ExecutionRhythm, LeftOutExecutionsAndChangedControlsAreGaps)
{
    Time runTime
    (
        Time::controlDictName, fileName("."), fileName("."), word("system"), word("constant"),
        false
    );
    dictionary dict;
    dict.add("executeInterval", 2);
    executionRhythm rhythm(runTime, dict);

    const auto at = [&](const label timeIndex)
    {
        while (runTime.timeIndex() < timeIndex)
        {
            runTime++;
        }
        return rhythm.next();
    };
    using beat = executionRhythm::beat;

    EXPECT_EQ(at(2), beat::regular);
    EXPECT_EQ(at(4), beat::regular);
    EXPECT_EQ(at(8), beat::afterGap);
    EXPECT_EQ(at(10), beat::regular);

    rhythm.read(dict);
    EXPECT_EQ(at(12), beat::regular);

    dict.set("executeInterval", 3);
    rhythm.read(dict);
    EXPECT_EQ(at(14), beat::extra);
    EXPECT_EQ(at(15), beat::afterGap);
    EXPECT_EQ(at(18), beat::regular);
}

// ************************************************************************* //
