// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/ModelCard.hpp"

#include "config/Json.hpp"
#include "inSituVersion.hpp"
#include "io/JsonLines.hpp"

#include <torch/version.h>

namespace inSitu
{
namespace
{

std::string jsonList(const std::vector<std::string>& values)
{
    std::string text = "[";
    for (const std::string& value : values)
    {
        text += (text.size() > 1 ? "," : "") + value;
    }
    return text + ']';
}


std::string quotedList(std::vector<std::string> values)
{
    for (std::string& value : values)
    {
        value = jsonString(value);
    }
    return jsonList(values);
}


std::string fieldList(const TrainingCase& theCase, const std::vector<int>& chosen)
{
    std::vector<std::string> objects;
    for (const int field : chosen)
    {
        const FieldSpec& spec = theCase.fields[field];
        std::vector<std::string> dimensions;
        for (const double exponent : spec.dimensions)
        {
            dimensions.push_back(jsonNumber(exponent));
        }
        objects.push_back(JsonObject()
            .add("name", spec.name)
            .add("type", spec.type)
            .addRaw("columns", quotedList(spec.columnNames))
            .addRaw("dimensions", jsonList(dimensions))
            .text());
    }
    return jsonList(objects);
}

}


std::string modelCard
(
    const std::string& objectName,
    const Settings& settings,
    const TrainingCase& theCase,
    const CaseMesh& mesh,
    const TrainingProgress& progress
)
{
    return JsonObject()
        .add("format", 1)
        .add("producer", std::string("inSituFoam ") + INSITU_VERSION)
        .add("torch", TORCH_VERSION)
        .addRaw("versions", quotedList(theCase.versions))
        .add("object", objectName)
        .addRaw("inputs", fieldList(theCase, theCase.inputs))
        .addRaw("features", quotedList(settings.object.features))
        .addRaw("targets", fieldList(theCase, theCase.targets))
        .addRaw("staticColumns", quotedList(theCase.staticColumns))
        .addRaw("edgeColumns", quotedList(mesh.state.geometry->edgeFeatureNames()))
        .add("target", settings.object.target)
        .addRaw("horizon", settings.object.horizonTime
            ? "null" : std::to_string(settings.object.horizon))
        .addRaw("horizonTime", settings.object.horizonTime
            ? jsonNumber(*settings.object.horizonTime) : "null")
        .add("boundaryNodes", settings.object.graph.boundaryNodes)
        .add("mesh", mesh.text)
        .add("precision", settings.training.precision)
        .add("parameters", static_cast<long long>(progress.parameters))
        .add("samples", static_cast<long long>(progress.samples))
        .add("steps", static_cast<long long>(progress.steps))
        .addRaw("configuration", settings.json)
        .text();
}

}
