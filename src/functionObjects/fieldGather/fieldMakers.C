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

#include "fieldMakers.H"

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;

wordList wordsOf(const dictionary& dict, const word& key)
{
    DynamicList<word> words;
    const entry* found = dict.findEntry(key, keyType::LITERAL);
    if (found && found->isStream())
    {
        for (const token& item : found->stream())
        {
            if (item.isWord())
            {
                words.append(item.wordToken());
            }
        }
    }
    return wordList(std::move(words));
}


//- Fields that a function object makes
wordHashSet productsOf(const word& object, const dictionary& dict)
{
    wordHashSet products(wordsOf(dict, "result"));
    if (!products.empty())
    {
        return products;
    }

    const word type(dict.getOrDefault<word>("type", word::null));
    const auto insert = [&](const std::string& name)
    {
        products.insert(word(name, false));
    };
    insert(object);
    insert(type);
    for (const word& field : wordsOf(dict, "field"))
    {
        insert(type + '(' + field + ')');
    }
    for (const word& field : wordsOf(dict, "fields"))
    {
        if (type == "readFields")
        {
            insert(field);
        }
        else if (type == "turbulenceFields")
        {
            insert("turbulenceProperties:" + field);
        }
        else if (type == "fieldAverage")
        {
            insert(field + "Mean");
            insert(field + "Prime2Mean");
        }
    }
    return products;
}

} // End anonymous namespace


// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

std::string Foam::functionObjects::sourceOfField
(
    const Time& runTime,
    const word& field,
    const word& object
)
{
    bool before = true;
    const dictionary* functions = runTime.controlDict().findDict("functions");
    for (const word& name : functions ? functions->toc() : wordList())
    {
        before = before && name != object;
        const dictionary* dict = functions->findDict(name, keyType::LITERAL);
        if (dict && name != object && productsOf(name, *dict).found(field))
        {
            return
                "Function object '" + name + "' makes it, "
              + (
                    before
                  ? "but has not done so yet: see its executeControl and timeStart"
                  : "but stands behind " + object + " in 'functions' of controlDict;"
                    " it has to stand before"
                );
        }
    }
    return
        "A field of another function object needs that one to stand before "
      + object + " in 'functions' of controlDict";
}

// ************************************************************************* //
