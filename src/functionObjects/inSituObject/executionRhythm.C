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

#include "executionRhythm.H"
#include "Time.H"

// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

void Foam::functionObjects::executionRhythm::readWindow(const dictionary& dict)
{
    const auto timeOr = [&](const char* entry, const scalar otherwise)
    {
        return
            dict.found(entry)
          ? control_.time().userTimeToTime(dict.get<scalar>(entry))
          : otherwise;
    };

    // As in functionObjects::timeControl::readControls
    timeStart_ = timeOr("timeStart", -VGREAT);
    timeEnd_ = timeOr("timeEnd", VGREAT);
    triggerStart_ = dict.getOrDefault<label>("triggerStart", labelMax);
    triggerEnd_ = dict.getOrDefault<label>("triggerEnd", labelMax);
    mode_ =
        dict.found("triggerStart")
      ? timeControl::controlModeNames_.get("controlMode", dict)
      : timeControl::controlMode::TIME;
}


Foam::label Foam::functionObjects::executionRhythm::intervalNow() const
{
    const Time& runTime = control_.time();

    // As in timeControl::execute
    return label
    (
        (
            runTime.value() - runTime.startTime().value()
          + 0.5*runTime.deltaTValue()
        )
       /control_.interval()
    );
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::executionRhythm::executionRhythm
(
    const Time& runTime,
    const dictionary& dict
)
:
    control_(runTime, dict, "execute"),
    timeIndex_(runTime.startTimeIndex()),
    interval_(0),
    changed_(false)
{
    readWindow(dict);
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

void Foam::functionObjects::executionRhythm::read(const dictionary& dict)
{
    const auto control = control_.control();
    const scalar interval = control_.interval();

    control_.read(dict);
    readWindow(dict);

    if (control_.control() != control || control_.interval() != interval)
    {
        changed_ = true;
    }
}


bool Foam::functionObjects::executionRhythm::isOpen() const
{
    const Time& runTime = control_.time();
    const scalar halfStep = 0.5*runTime.deltaTValue();
    const label trigger = runTime.functionObjects().triggerIndex();

    const bool inTime =
        runTime.value() >= timeStart_ - halfStep
     && runTime.value() <= timeEnd_ + halfStep;
    const bool inTrigger = trigger >= triggerStart_ && trigger <= triggerEnd_;

    switch (mode_)
    {
        case timeControl::controlMode::TRIGGER:
        {
            return inTrigger;
        }
        case timeControl::controlMode::TIME_OR_TRIGGER:
        {
            return inTime || inTrigger;
        }
        case timeControl::controlMode::TIME_AND_TRIGGER:
        {
            return inTime && inTrigger;
        }
        default:
        {
            return inTime;
        }
    }
}


Foam::functionObjects::executionRhythm::beat
Foam::functionObjects::executionRhythm::next()
{
    const label timeIndex = control_.time().timeIndex();
    const label steps = timeIndex - timeIndex_;

    // A new object sees steps that it took no part in as a gap
    bool gap = changed_ || steps <= 0;

    switch (control_.control())
    {
        case Foam::timeControl::ocTimeStep:
        {
            const label every = max(label(1), label(control_.interval()));
            if (timeIndex % every)
            {
                return beat::extra;
            }
            gap = gap || steps > every;
            break;
        }

        case Foam::timeControl::ocRunTime:
        case Foam::timeControl::ocAdjustableRunTime:
        {
            const label interval = intervalNow();
            if (interval == interval_ && !changed_)
            {
                return beat::extra;
            }
            gap = gap || (interval > interval_ + 1 && steps > 1);
            interval_ = interval;
            break;
        }

        case Foam::timeControl::ocWriteTime:
        {
            if (!control_.time().writeTime())
            {
                return beat::extra;
            }
            break;
        }

        case Foam::timeControl::ocNone:
        case Foam::timeControl::ocOnEnd:
        {
            return beat::extra;
        }

        default:
        {
            break;
        }
    }

    timeIndex_ = timeIndex;
    changed_ = false;
    return gap ? beat::afterGap : beat::regular;
}

// ************************************************************************* //
