// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"
#include "config/Node.hpp"

#include <map>
#include <string>
#include <string_view>

namespace inSitu
{

//- A model file of PhysicsNeMo (formerly Modulus): which class, made with which arguments,
//  and its weights
struct MdlusContent
{
    std::string path;                               //!< for messages
    std::string className;                          //!< "MeshGraphNet"
    std::string module;                             //!< "physicsnemo.models.meshgraphnet…"
    Node arguments;                                 //!< of the constructor; null: empty text
    std::map<std::string, std::string> metadata;    //!< physicsnemo_version, …
    StateTree tensors;                              //!< by the names of the state dictionary
    std::map<std::string, std::string> extras;      //!< JSON of inSituFoam: card.json, scales.json
};

//- Member names of a file and of what only inSituFoam writes and PhysicsNeMo passes over
namespace mdlus
{
    inline const std::string modelMember = "model.pt";
    inline const std::string argumentsMember = "args.json";
    inline const std::string metadataMember = "metadata.json";
    inline const std::string extraFolder = "inSituFoam/";

    //- The version of the format that PhysicsNeMo 1.0 to 2.2 write
    inline const std::string formatVersion = "0.1.0";
}

//- Read a `.mdlus` file, zip or (before 2.0) tar. Safe for files from anywhere: see
//  readArchive(), parseJson() and readTorchState(); nothing is executed or unpacked to disk.
//  Throws Error, naming file and place: what is no such file, a missing or unknown member,
//  another format version, a model of nested modules.
MdlusContent readMdlus(const std::string& path);

//- The same of bytes in memory
MdlusContent parseMdlus(std::string_view bytes, const std::string& path);

}
