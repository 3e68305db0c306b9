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

Class
    Foam::functionObjects::faultAt

Description
    Does in one step what must not happen, in place of a solver or of another
    function object.

Usage
    \verbatim
    fault
    {
        type        faultAt;
        libs        ("$INSITU_BUILD_DIR/testLibraries/libinSituFaults.so");
        timeIndex   7;
        what        divideByZero;   // fatalError | signal | spoil | forget
                                    // | pause (each step, 10 ms)

        number      15;             // signal: which one
        field       marker;         // spoil, forget: this volScalarField
        value       nan;            // spoil: what cell 35 becomes, nan | infinity
        steps       2;              // for so many steps
    }
    \endverbatim

\*---------------------------------------------------------------------------*/

#include "Time.H"
#include "addToRunTimeSelectionTable.H"
#include "fvMeshFunctionObject.H"
#include "volFields.H"

#include <chrono>
#include <csignal>
#include <limits>
#include <thread>

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace Foam
{
namespace functionObjects
{

class faultAt
:
    public fvMeshFunctionObject
{
    const dictionary dict_;

    const word what_;

    const label timeIndex_;

    //- What the spoilt cell held before
    scalar sound_;


    static void divideByZero()
    {
        // Volatile on both sides: a division nobody looks at is compiled away
        volatile double zero = 0;
        volatile double result = 1/zero;
        Info<< "1/0 = " << result << endl;
    }

    volScalarField& field()
    {
        return mesh_.lookupObjectRef<volScalarField>(dict_.get<word>("field"));
    }

    void spoil()
    {
        const label last = timeIndex_ + dict_.get<label>("steps") - 1;
        if (time_.timeIndex() < timeIndex_ || time_.timeIndex() > last + 1)
        {
            return;
        }

        scalar& value = field()[35];
        if (time_.timeIndex() == timeIndex_)
        {
            sound_ = value;
        }
        using limits = std::numeric_limits<scalar>;
        value =
            time_.timeIndex() > last ? sound_
          : dict_.get<word>("value") == "nan" ? limits::quiet_NaN()
          : limits::infinity();
    }


public:

    TypeName("faultAt");

    faultAt(const word& name, const Time& runTime, const dictionary& dict)
    :
        fvMeshFunctionObject(name, runTime, dict),
        dict_(dict),
        what_(dict.get<word>("what")),
        timeIndex_(dict.get<label>("timeIndex")),
        sound_(0)
    {}

    virtual bool execute()
    {
        if (what_ == "spoil")
        {
            spoil();
        }
        else if (what_ == "pause")
        {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        else if (time_.timeIndex() == timeIndex_)
        {
            if (what_ == "divideByZero")
            {
                divideByZero();
            }
            else if (what_ == "signal")
            {
                std::raise(dict_.get<label>("number"));
            }
            else if (what_ == "forget")
            {
                // The registry owns it
                field().checkOut();
            }
            else
            {
                FatalErrorInFunction
                    << "a fault of another function object" << exit(FatalError);
            }
        }
        return true;
    }

    virtual bool write()
    {
        return true;
    }
};

defineTypeNameAndDebug(faultAt, 0);
addToRunTimeSelectionTable(functionObject, faultAt, dictionary);

} // End namespace functionObjects
} // End namespace Foam

// ************************************************************************* //
