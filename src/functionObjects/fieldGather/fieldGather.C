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

#include "fieldGather.H"
#include "base/Error.hpp"
#include "cyclicAMIPolyPatch.H"
#include "cyclicFvPatch.H"
#include "processorFvPatch.H"
#include "surfaceFieldKinds.H"
#include "volFieldKinds.H"

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;
using namespace Foam::functionObjects;


// As polyMesh::validComponents: a direction that is not solved may enter twice. The
// directions of a component are in its name: "" "x" "xy" "ii"
bool solved(const std::string& component, const Vector<label>& solutionD)
{
    label product = 1;
    for (const char c : component)
    {
        const int d = c - 'x';
        product *= d >= 0 && d < 3 ? solutionD[d] : 1;
    }
    return product > 0;
}


template<class Type, template<class> class PatchField, class Mesh>
inSitu::FieldSpec specOf(const GeometricField<Type, PatchField, Mesh>& field)
{
    inSitu::FieldSpec spec;
    spec.name = field.name();
    spec.type = field.type();
    spec.nComponents = pTraits<Type>::nComponents;

    for (int i = 0; i < spec.nComponents; ++i)
    {
        const std::string component = pTraits<Type>::componentNames[i];
        if (solved(component, field.mesh().solutionD()))
        {
            spec.components.push_back(i);
            spec.columnNames.push_back(spec.name + component);
        }
    }

    for (int i = 0; i < dimensionSet::nDimensions; ++i)
    {
        const auto unit = static_cast<dimensionSet::dimensionType>(i);
        spec.dimensions.push_back(field.dimensions()[unit]);
    }
    return spec;
}


template<class Type>
inSitu::Span<const scalar> memoryOf(const UList<Type>& values)
{
    return
    {
        reinterpret_cast<const scalar*>(values.cdata()),
        std::size_t(values.size())*pTraits<Type>::nComponents
    };
}

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

int Foam::functionObjects::fieldGather::add(const word& name)
{
    const label known = names_.find(name);
    if (known >= 0)
    {
        return known;
    }

    names_.append(name);
    asVolField(mesh_.thisDb(), name, [this](const auto& field)
    {
        specs_.push_back(specOf(field));
    });
    return names_.size() - 1;
}


int Foam::functionObjects::fieldGather::addSurface(const word& name)
{
    names_.append(name);
    asSurfaceField(mesh_.thisDb(), name, [this](const auto& field)
    {
        specs_.push_back(specOf(field));
        specs_.back().oriented = isOriented(field);
    });
    return names_.size() - 1;
}


bool Foam::functionObjects::fieldGather::isSurface(const int fieldi) const
{
    return !edgeInputs_.empty() && fieldi >= edgeInputs_.front();
}


void Foam::functionObjects::fieldGather::missing
(
    const word& name,
    const std::string& available
) const
{
    throw inSitu::Error
    (
        "field '" + name + "' is no longer registered on mesh "
      + mesh_.name() + "; a field that takes part must last as long as the"
        " run. Registered are " + available
    );
}


template<class Look>
void Foam::functionObjects::fieldGather::look
(
    const word& name,
    const Look& body
) const
{
    if (!asVolField(mesh_.thisDb(), name, body))
    {
        missing(name, availableFields(mesh_.thisDb()));
    }
}


template<class Look>
void Foam::functionObjects::fieldGather::lookSurface
(
    const word& name,
    const Look& body
) const
{
    if (!asSurfaceField(mesh_.thisDb(), name, body))
    {
        missing(name, availableSurfaceFields(mesh_.thisDb()));
    }
}


template<class Field>
void Foam::functionObjects::fieldGather::view
(
    const Field& field,
    const int fieldi,
    const labelList& patches
)
{
    inSitu::FieldView<scalar>& view = views_[fieldi];
    if (field.type() != specs_[fieldi].type)
    {
        throw inSitu::Error
        (
            "field '" + field.name() + "' was a " + specs_[fieldi].type + " and is now a "
          + field.type()
        );
    }

    view.cells = memoryOf(field.primitiveField());
    forAll(patches, i)
    {
        view.patches[i] = memoryOf(field.boundaryField()[patches[i]]);
    }
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::fieldGather::fieldGather
(
    const fvMesh& mesh,
    const fieldSelection& selection,
    const labelList& patches,
    const bool halo
)
:
    mesh_(mesh),
    halo_(halo)
{
    for (const word& name : selection.inputs)
    {
        inputs_.push_back(add(name));
    }
    for (const word& name : selection.targets)
    {
        targets_.push_back(add(name));
    }
    for (const word& name : selection.edgeInputs)
    {
        edgeInputs_.push_back(addSurface(name));
    }

    views_.resize(specs_.size());
    setPatches(patches);
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

std::vector<std::string>
Foam::functionObjects::fieldGather::inputNames() const
{
    std::vector<std::string> names;
    for (const int fieldi : inputs_)
    {
        names.push_back(names_[fieldi]);
    }
    return names;
}


void Foam::functionObjects::fieldGather::setPatches(const labelList& patches)
{
    patches_ = patches;
    facePatches_ = patches;
    for (const fvPatch& patch : mesh_.boundary())
    {
        if (!edgeInputs_.empty() && isA<cyclicAMIPolyPatch>(patch.patch()))
        {
            throw inSitu::Error
            (
                "edgeInputs: patch " + patch.name() + " of type " + patch.patch().type()
              + ": fields on the faces of sliding interfaces are not supported;"
                " leave edgeInputs out"
            );
        }
        if (isA<cyclicFvPatch>(patch) || (halo_ && isA<processorFvPatch>(patch)))
        {
            facePatches_.append(patch.index());
        }
    }

    for (std::size_t i = 0; i < views_.size(); ++i)
    {
        views_[i].patches.resize((isSurface(i) ? facePatches_ : patches_).size());
    }
}


std::vector<std::vector<bool>>
Foam::functionObjects::fieldGather::fixedInputs(const labelList& patches) const
{
    std::vector<std::vector<bool>> fixed;
    for (const int fieldi : inputs_)
    {
        fixed.emplace_back();
        look(names_[fieldi], [&](const auto& field)
        {
            for (const label patchi : patches)
            {
                fixed.back().push_back
                (
                    field.boundaryField()[patchi].fixesValue()
                );
            }
        });
    }
    return fixed;
}


const std::vector<inSitu::FieldView<Foam::scalar>>&
Foam::functionObjects::fieldGather::views()
{
    forAll(names_, fieldi)
    {
        const word& name = names_[fieldi];
        if (!isSurface(fieldi))
        {
            look(name, [&](const auto& field) { view(field, fieldi, patches_); });
            continue;
        }
        lookSurface(name, [&](const auto& field)
        {
            view(field, fieldi, facePatches_);
            if (isOriented(field) != specs_[fieldi].oriented)
            {
                throw inSitu::Error
                (
                    "field '" + name + "' was "
                  + (specs_[fieldi].oriented ? "" : "not ")
                  + "oriented at the first execution, and now it is the other way round"
                );
            }
        });
    }

    return views_;
}

// ************************************************************************* //
