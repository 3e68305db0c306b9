// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sample/Normaliser.hpp"

#include <string>
#include <vector>

namespace inSitu
{

class Model;

//- What an artifact adds to the network so that raw fields go in and physical values come out
struct ArtifactContent
{
    int nInputColumns = 0;          //!< dynamic columns, raw values as in the fields
    Scaling input;                  //!< of value less reference
    Scaling target;
    std::vector<double> inputReference;
    std::vector<double> targetReference;    //!< zeros for increments
    std::vector<double> staticScales;   //!< see staticScales()
    std::vector<double> edgeScales;     //!< see edgeScales()
    std::string card;               //!< JSON: fields, dimensions, horizon, record, versions
};

//- Write a TorchScript file that stock PyTorch loads:
//      forward(nodes [N, nInputColumns], static [N, S], edge_index [2, E] int64,
//              edges [E, F]) -> [N, nOutputs]
//  nodes are raw field values, static and edges as in graph.h5 (undivided), the result
//  is in physical units (increments or values) and of the type of nodes; rows beyond the
//  cells have no meaning. Differences and scales are computed in double: give nodes in double
//  if a field has a large constant part. The card is the extra file "card.json". A user's
//  TorchScript model is the submodule "network"; parameters of others lie at the root, the
//  dots of their names as "__".
//  Written beside, synced and renamed: a reader never sees half a file. Throws Error.
void writeArtifact(const std::string& path, const Model& model, const ArtifactContent& content);

}
