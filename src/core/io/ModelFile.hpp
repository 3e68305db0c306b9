// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace inSitu
{

//- A file of a network that has been looked at, not yet made sense of
struct ModelFile
{
    enum class Kind
    {
        torchScript,        //!< torch.jit.save, artifacts of inSituFoam included
        mdlus,              //!< PhysicsNeMo's Module.save
        package,            //!< .pt2 with a compiled network (AOTInductor)
        exportedProgram,    //!< .pt2 of torch.export.save: a graph, not compiled
        stateDictionary     //!< torch.save: tensors by name
    };

    std::string path;
    std::string bytes;
    Kind kind = Kind::torchScript;

    //- As in "'net.pt2' is …"
    static const char* nameOf(Kind kind);
};

//- Read a file and tell by its content what it is, whatever its name. All of it is checked as
//  verifyArchive() does, so that a byte changed by accident never reaches LibTorch, which does not
//  compare checksums. Throws Error naming path and fault: missing, a folder, damaged, none of
//  these.
ModelFile readModelFile(const std::string& path);

//- The same of bytes in memory
ModelFile identifyModel(std::string bytes, const std::string& path);

}
