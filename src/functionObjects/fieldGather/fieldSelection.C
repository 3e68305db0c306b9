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

#include "fieldSelection.H"
#include "base/Error.hpp"
#include "fieldMakers.H"
#include "pendingFields.H"
#include "surfaceFieldKinds.H"
#include "volFieldKinds.H"
#include "wordRe.H"

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;
using namespace Foam::functionObjects;
using inSitu::ConfigError;
using inSitu::Node;


bool isVolField(const objectRegistry& registry, const word& name)
{
    return asVolField(registry, name, [](const auto&) {});
}


bool isSurfaceField(const objectRegistry& registry, const word& name)
{
    return asSurfaceField(registry, name, [](const auto&) {});
}


// Fields on cells, or on faces
struct kindOfField
{
    bool (*has)(const objectRegistry&, const word&);
    std::string (*available)(const objectRegistry&);
};

const kindOfField onCells{isVolField, availableFields};
const kindOfField onFaces{isSurfaceField, availableSurfaceFields};


// True for names made of that of a registered field and this ending
bool derivedName
(
    const objectRegistry& registry,
    const word& name,
    const std::string& ending,
    const kindOfField& kind = onCells
)
{
    return
        name.size() > ending.size()
     && name.ends_with(ending)
     && kind.has(registry, name.substr(0, name.size() - ending.size()));
}


bool isOldTime
(
    const objectRegistry& registry,
    const word& name,
    const kindOfField& kind
)
{
    return derivedName(registry, name, "_0", kind);
}


// Those that a trainer registers for mapping
bool isPending(const objectRegistry& registry, const word& name)
{
    return pendingFields::isNote(registry.lookupObject<regIOobject>(name).note());
}


// "type: name name; type: name"
std::string listed(const objectRegistry& registry, const kindOfField& kind)
{
    HashTable<DynamicList<word>> byType;
    for (const word& name : registry.sortedNames())
    {
        if
        (
            kind.has(registry, name)
         && !isOldTime(registry, name, kind)
         && !isPending(registry, name)
        )
        {
            byType(registry.lookupObject<regIOobject>(name).type()).append(name);
        }
    }

    std::string text;
    for (const word& type : byType.sortedToc())
    {
        text += (text.empty() ? "" : "; ") + type + ':';
        for (const word& name : byType[type])
        {
            text += ' ' + name;
        }
    }
    return text;
}


wordList matches
(
    const objectRegistry& registry,
    const wordRe& expression,
    const kindOfField& kind
)
{
    DynamicList<word> found;
    for (const word& name : registry.sortedNames())
    {
        if
        (
            expression.match(name)
         && kind.has(registry, name)
         && !isOldTime(registry, name, kind)
         && !derivedName(registry, name, predictionName::value)
         && !derivedName(registry, name, predictionName::error)
         && !isPending(registry, name)
        )
        {
            found.append(name);
        }
    }
    return wordList(std::move(found));
}


// Why a name cannot be taken
std::string complaint
(
    const objectRegistry& registry,
    const word& name,
    const std::string& owner,
    const kindOfField& kind
)
{
    const auto* object = registry.cfindObject<regIOobject>(name);

    return
        (
            object
          ? "'" + name + "' is a " + object->type()
          : "there is no field '" + name + "'"
        )
      + " on mesh " + registry.name() + "; registered there are "
      + kind.available(registry)
      + (object ? "" : ". " + sourceOfField(registry.time(), name, owner));
}


wordList select
(
    const std::vector<inSitu::ObjectConfig::FieldPattern>& patterns,
    const std::string& key,
    const Node& block,
    const objectRegistry& registry,
    const std::string& owner,
    const kindOfField& kind
)
{
    // The value of the key is a list, or one word
    const Node* written = block.find(key);
    const auto fail = [&](std::size_t i, const std::string& message)
    {
        const Node* place = written;
        if (written && i < written->items.size())
        {
            place = &written->items[i];
        }
        throw ConfigError
        (
            place ? place->file : block.file,
            place ? place->line : block.line,
            key + ": " + message
        );
    };

    DynamicList<word> names;
    for (std::size_t i = 0; i < patterns.size(); ++i)
    {
        const auto& pattern = patterns[i];

        if (pattern.isRegex)
        {
            const wordList found
            (
                matches(registry, wordRe(pattern.text, wordRe::REGEX), kind)
            );
            if (found.empty())
            {
                fail
                (
                    i,
                    "\"" + pattern.text + "\" selects no field; registered are "
                  + kind.available(registry)
                );
            }
            names.append(found);
        }
        else if (kind.has(registry, pattern.text))
        {
            names.append(word(pattern.text, false));
        }
        else
        {
            fail(i, complaint(registry, pattern.text, owner, kind));
        }
    }

    DynamicList<word> once;
    for (const word& name : names)
    {
        if (!once.found(name))
        {
            once.append(name);
        }
    }
    return wordList(std::move(once));
}

} // End anonymous namespace


// * * * * * * * * * * * * * * Static Functions  * * * * * * * * * * * * * * //

Foam::functionObjects::fieldSelection
Foam::functionObjects::fieldSelection::of
(
    const std::vector<inSitu::Pattern>& inputs,
    const std::vector<inSitu::Pattern>& targets,
    const std::vector<inSitu::Pattern>& edgeInputs,
    const inSitu::Node& block,
    const objectRegistry& registry,
    const std::string& owner
)
{
    return
    {
        select(inputs, "inputs", block, registry, owner, onCells),
        select(targets, "targets", block, registry, owner, onCells),
        select(edgeInputs, "edgeInputs", block, registry, owner, onFaces)
    };
}


Foam::functionObjects::fieldSelection
Foam::functionObjects::fieldSelection::of
(
    const inSitu::ObjectConfig& config,
    const inSitu::Node& block,
    const objectRegistry& registry,
    const std::string& owner
)
{
    fieldSelection result
    (
        of
        (
            config.inputs, config.targets, config.edgeInputs, block, registry, owner
        )
    );

    if (config.horizon == 0)
    {
        for (const word& name : result.targets)
        {
            if (result.inputs.found(name))
            {
                const Node* place = block.find("targets");
                throw ConfigError
                (
                    place ? place->file : block.file,
                    place ? place->line : block.line,
                    "targets: '" + name + "' is also an input; with horizon 0 there"
                    " is nothing to learn. Take it out of one list, or raise horizon"
                );
            }
        }
    }

    return result;
}


// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

std::string Foam::functionObjects::availableFields
(
    const objectRegistry& registry
)
{
    const std::string text = listed(registry, onCells);
    return text.empty() ? "no volFields" : text;
}


std::string Foam::functionObjects::availableSurfaceFields
(
    const objectRegistry& registry
)
{
    const std::string text = listed(registry, onFaces);
    return text.empty() ? "no surface fields" : text;
}

// ************************************************************************* //
