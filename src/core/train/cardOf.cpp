// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/cardOf.hpp"

#include "config/featureWords.hpp"
#include "inSituVersion.hpp"

#include <torch/version.h>

namespace inSitu
{
namespace
{

std::vector<FieldSpec> chosenOf(const TrainingCase& theCase, const std::vector<int>& chosen)
{
    std::vector<FieldSpec> fields;
    for (const int field : chosen)
    {
        fields.push_back(theCase.fields[field]);
    }
    return fields;
}

}


ModelCard cardOf
(
    const std::string& objectName,
    const Settings& settings,
    const TrainingCase& theCase,
    const CaseMesh& mesh,
    const TrainingProgress& progress,
    const RunningRange& targetRange,
    const RunningRange& interval
)
{
    ModelCard card;
    card.producer = std::string("inSituFoam ") + INSITU_VERSION;
    card.torch = TORCH_VERSION;
    card.versions = theCase.versions;
    card.object = objectName;
    card.inputs = chosenOf(theCase, theCase.inputs);
    card.targets = chosenOf(theCase, theCase.targets);
    card.features = chosen(settings.object.features, sampleFeatures());
    card.staticColumns = theCase.staticColumns;
    card.edgeInputs = chosenOf(theCase, theCase.edgeInputs);
    card.edgeColumns = edgeColumnNames(theCase, mesh);
    card.increment = settings.increment();
    card.horizon = settings.object.horizon;
    card.horizonTime = settings.object.horizonTime;
    card.boundaryNodes = settings.object.graph.boundaryNodes;
    card.mesh = mesh.text;
    card.precision =
        settings.training.arithmetic() == Precision::float64 ? "float64" : "float32";
    card.parameters = progress.parameters;
    card.samples = progress.samples;
    card.steps = progress.steps;
    card.targetMinimum = targetRange.minimum();
    card.targetMaximum = targetRange.maximum();
    for (const std::vector<double>& extreme : {interval.minimum(), interval.maximum()})
    {
        card.interval.insert(card.interval.end(), extreme.begin(), extreme.end());
    }
    card.configuration = settings.json;
    return card;
}

}
