// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "buffer/Gather.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- What a model expects and gives, in the terms of a case: the JSON text "card.json" inside an
//  artifact, or beside a model from elsewhere. Layout: docs/formats.md.
struct ModelCard
{
    std::string producer;                   //!< "inSituFoam 0.1.0"; empty: not known
    std::string torch;                      //!< version of LibTorch or PyTorch
    std::vector<std::string> versions;      //!< of OpenFOAM and others
    std::string object;                     //!< function object that trained it

    //- Of a field the card knows name, type, columnNames and dimensions (empty: not stated);
    //  the rest of FieldSpec is the case's
    std::vector<FieldSpec> inputs;
    std::vector<FieldSpec> targets;
    std::vector<FieldSpec> edgeInputs;      //!< surface fields, with oriented

    std::vector<std::string> features;      //!< input columns behind those of the fields
    std::vector<std::string> staticColumns;
    std::vector<std::string> edgeColumns;   //!< those of edgeInputs last

    bool increment = true;                  //!< predicts the change over the horizon
    std::int64_t horizon = 1;               //!< executions, if horizonTime is not set
    std::optional<double> horizonTime;      //!< s

    //- Least and largest time from input to target in training, s; empty: not known, or none
    std::vector<double> interval;

    bool boundaryNodes = true;
    std::string mesh;                       //!< that it was trained on, in words
    std::string precision = "float32";

    std::int64_t parameters = 0;
    std::int64_t samples = 0;               //!< completed in training
    std::int64_t steps = 0;                 //!< passes over a batch

    //- Least and largest value of each target column in training; empty: not known
    std::vector<double> targetMinimum;
    std::vector<double> targetMaximum;

    //- For models that are not ours: what forward() takes, of nodes static edge_index edges
    std::vector<std::string> arguments;

    //- For a .mdlus that is not ours: what is around its network, (value − shift)/scale on the way
    //  in and value*scale + shift on the way out, by column, features included. Empty: nothing.
    std::vector<double> inputShift;
    std::vector<double> inputScale;
    std::vector<double> targetShift;
    std::vector<double> targetScale;
    std::optional<double> edgeLength;       //!< m, that edges and wallDistance are divided by
    std::optional<double> cellVolume;       //!< m3, that cellVolume is divided by
    std::vector<double> edgeInputScale;     //!< that edge inputs are divided by

    bool hasScales() const;

    std::string configuration = "{}";       //!< all keys in force, as JSON

    int nInputColumns() const;              //!< features included
    int nTargetColumns() const;
    int nEdgeInputs() const;                //!< columns

    std::string json() const;

    //- place names the text in messages ("surrogate.pt, card.json"). Unknown entries are kept
    //  out, missing ones have their default; inputs, targets and target must be there. Throws
    //  Error, naming entry and place.
    static ModelCard parse(const std::string& text, const std::string& place);
};

}
