// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/ModelCard.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

//- What a file or checkpoint of a network holds, and whether it is whole
struct Inspection
{
    //- A tensor of the network, or an array of a file of values
    struct Tensor
    {
        std::string name;
        std::string type;                       //!< "float32"
        std::vector<std::int64_t> shape;
    };

    //- Of a column: (value − shift)/scale is what the network sees
    struct ColumnScale
    {
        std::string side;                       //!< "input" or "target"
        std::string column;
        double shift = 0;
        double scale = 1;
    };

    struct Check
    {
        std::string what;                       //!< "checksums"
        std::string fault;                      //!< empty: good
    };

    std::string path;
    std::string kind;                           //!< "an artifact of inSituFoam"
    std::vector<std::pair<std::string, std::string>> facts;     //!< in words: versions, record, …
    std::optional<ModelCard> card;
    std::vector<Tensor> tensors;
    std::vector<ColumnScale> scales;
    std::vector<Check> checks;

    bool good() const;

    std::int64_t nNumbers() const;              //!< in all tensors

    //- For people; withTensors: each tensor with its shape
    std::string text(bool withTensors) const;

    //- One line with all of it
    std::string json() const;
};


//- Look at an artifact, another TorchScript module, a .mdlus, a .pt2, a file of torch.save, the
//  folder of a checkpoint, graph.h5 or replay0.h5. What is wrong is among the checks; nothing is
//  thrown for a path, whatever is there. The code in a .pt2 is not loaded.
Inspection inspect(const std::string& path);

}
