// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/surrogateFromMdlus.hpp"

#include "base/Error.hpp"
#include "infer/cardBeside.hpp"
#include "model/MdlusFile.hpp"

namespace inSitu
{
namespace
{

std::vector<double> orElse(const std::vector<double>& values, int size, double value)
{
    return values.empty() ? std::vector<double>(static_cast<std::size_t>(size), value) : values;
}


//- As inSituFoam wrote them
SurrogateScales scalesOf(const ArtifactContent& content, const ModelCard& card,
    const std::string& path)
{
    if (content.inputReference.size() < card.features.size())
    {
        throw Error("model \"" + path + "\": its scales do not fit its card");
    }
    SurrogateScales scales;
    scales.input.nodes = content.input;
    scales.target = content.target;
    scales.inputReference = content.inputReference;
    scales.inputReference.resize(content.inputReference.size() - card.features.size());
    scales.targetReference = content.targetReference;
    takeScales(scales.input, card, content.staticScales, content.edgeScales, path);
    return scales;
}


//- As a card states them. Shifts of fields are taken off in double, where the fields are gathered.
SurrogateScales scalesOf(const ModelCard& card)
{
    const int nInputs = card.nInputColumns();
    const int nTargets = card.nTargetColumns();

    SurrogateScales scales;
    Scaling& nodes = scales.input.nodes;
    nodes.shift = orElse(card.inputShift, nInputs, 0);
    nodes.scale = orElse(card.inputScale, nInputs, 1);
    const auto nFields = static_cast<std::size_t>(nInputs) - card.features.size();
    for (std::size_t column = 0; column < nFields; ++column)
    {
        scales.inputReference.push_back(nodes.shift[column]);
        nodes.shift[column] = 0;
    }
    scales.target.shift = orElse(card.targetShift, nTargets, 0);
    scales.target.scale = orElse(card.targetScale, nTargets, 1);
    scales.targetReference.assign(static_cast<std::size_t>(nTargets), 0.0);
    scales.input.mesh = {card.edgeLength.value_or(1), card.cellVolume.value_or(1)};
    scales.input.edges = orElse(card.edgeInputScale, card.nEdgeInputs(), 1);
    return scales;
}


void requireWidths(const ModelShape& shape, const ModelCard& card, const std::string& path)
{
    std::string differences;
    const auto compare = [&](const std::string& what, int network, std::size_t ofCard)
    {
        if (static_cast<std::size_t>(network) != ofCard)
        {
            differences += (differences.empty() ? "" : "; ") + what + ": the network has "
                + std::to_string(network) + ", the card " + std::to_string(ofCard);
        }
    };
    compare("columns of nodes (inputs, features and staticColumns)", shape.nNodeFeatures,
        static_cast<std::size_t>(card.nInputColumns()) + card.staticColumns.size());
    compare("edgeColumns", shape.nEdgeFeatures, card.edgeColumns.size());
    compare("columns of targets", shape.nOutputs, static_cast<std::size_t>(card.nTargetColumns()));
    if (!differences.empty())
    {
        throw Error("model \"" + path + "\" does not fit its card: " + differences);
    }
}


Precision precisionOf(const ModelCard& card)
{
    return card.precision == "float64" ? Precision::float64 : Precision::float32;
}

}


std::unique_ptr<Surrogate> surrogateFromMdlus
(
    const ModelFile& file,
    ThreadPool& pool,
    const CountBuild& count
)
{
    const MdlusContent content = parseMdlus(file.bytes, file.path);
    const std::optional<ArtifactContent> own = artifactOf(content);
    ModelCard card = own
      ? ModelCard::parse(own->card, file.path + ", card.json") : cardBeside(file.path);
    if (!card.arguments.empty())
    {
        throw Error("model \"" + file.path + "\": its card has arguments, but those of a"
            " MeshGraphNet are known; leave them out");
    }

    ImportedMeshGraphNet imported = meshGraphNetFrom(content, precisionOf(card), pool);
    requireWidths(imported.shape, card, file.path);
    SurrogateScales scales = own ? scalesOf(*own, card, file.path) : scalesOf(card);
    return makeSurrogate(std::move(card), std::move(imported.model), std::move(scales), pool,
        count);
}

}
