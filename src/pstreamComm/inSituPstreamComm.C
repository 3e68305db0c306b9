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

Description
    What functionObjects::makeComm finds by name in this library

\*---------------------------------------------------------------------------*/

#include "MpiComm.hpp"
#include "worldCommunicator.H"

// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

//- The caller owns it. Collective; throws inSitu::Error
extern "C" inSitu::Comm* inSituPstreamComm()
{
    return new inSitu::MpiComm(Foam::worldCommunicator());
}

// ************************************************************************* //
