// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Precision.hpp"
#include "base/Stamped.hpp"
#include "base/ThreadPool.hpp"
#include "io/ModelCard.hpp"
#include "sample/Normaliser.hpp"
#include "sample/Sample.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

class Model;
struct SurrogateScales;

//- A trained network with what belongs to it: fields in, physical values out. One thread calls.
class Surrogate
{
public:

    virtual ~Surrogate() = default;

    const ModelCard& card() const { return card_; }

    //- What is to be subtracted from the columns of the input fields, features excepted, and in
    //  which precision a sample's input holds the rest
    const std::vector<double>& inputReference() const { return inputReference_; }
    Precision precision() const { return precision_; }

    //- Predict together with these ranks, which all call predict() alike. Graphs may have a halo
    //  if handlesHalo().
    virtual void joinRanks(std::shared_ptr<Comm>) {}
    virtual bool handlesHalo() const { return false; }

    //- Compute where a device entry says, see model/chooseDevice.hpp, together with these ranks.
    //  note receives what a user should know later. Returns a name, and in brackets why it is not a
    //  GPU. Once, before the first prediction. Throws Error if a GPU is asked for in vain.
    virtual std::string useDevice(const std::string& entry, const std::shared_ptr<Comm>& comm,
        std::function<void(const std::string&)> note);

    //- Trainable parameters; 0: not known
    virtual std::int64_t nParameters() const = 0;

    //- Increments, or whole values, of the cells [nCells, card().nTargetColumns()]. The sample has
    //  the input (and the features) of the card. Throws Error if the network cannot do with it;
    //  the result is then unspecified. Values are not checked.
    virtual void predict(const Sample& sample, Span<double> prediction) = 0;

    //- Take over weights, scales and card of the same network further on in its training. Throws
    //  Error unless it is one of ours.
    virtual void update(const Model& network, SurrogateScales scales, ModelCard card);

    //- Static parts that are stale, as Trainer::firstStaleEntry()
    virtual std::string firstStaleEntry() const { return {}; }

protected:

    Surrogate(ModelCard card, std::vector<double> inputReference, Precision precision);

    void setCard(ModelCard card) { card_ = std::move(card); }

private:

    ModelCard card_;
    std::vector<double> inputReference_;
    Precision precision_;
};


//- ", 1226 parameters, 20 samples of training", for the log; what is not known is left out
std::string sizeText(const Surrogate& surrogate);


//- Scales and references of a network, as its training left them
struct SurrogateScales
{
    InputScales input;
    Scaling target;
    std::vector<double> inputReference;     //!< without features
    std::vector<double> targetReference;    //!< zeros for increments
};


//- What the divisors of a network's columns say of the mesh that it was trained on, and the last
//  ones of its edges, which are those of the edge inputs. Throws Error naming path if there are
//  not as many as the card has columns.
void takeScales(InputScales& scales, const ModelCard& card,
    const std::vector<double>& staticScales, const std::vector<double>& edgeScales,
    const std::string& path);

//- From a network of our own. pool outlives it; count is told of each build of a static part.
std::unique_ptr<Surrogate> makeSurrogate(ModelCard card, std::unique_ptr<Model> network,
    SurrogateScales scales, ThreadPool& pool, const CountBuild& count);

//- From a file, which is told by its content, whatever its name:
//   - a TorchScript artifact of inSituFoam (model.pt). A network of ours in it runs on our kernels.
//   - a .mdlus of PhysicsNeMo's MeshGraphNet, which runs on our kernels too. One that inSituFoam
//     wrote has card and scales inside; any other has its card beside it, <path>.card.json, with
//     the scales that are around the network, if any.
//   - another TorchScript module, or a .pt2 package that AOTInductor compiled, with its card beside
//     it: forward() takes the card's `arguments` (default: nodes edge_index edges; raw values), and
//     gives physical values [N or nCells, targets].
//  A package is machine code, and TorchScript a program: both can do what the user can.
//  Throws Error that names path and fault: missing, damaged, of another kind, without a card, a
//  card that contradicts the network, weights that are not finite, compiled for another machine.
std::unique_ptr<Surrogate> loadSurrogate(const std::string& path, ThreadPool& pool,
    const CountBuild& count);

}
