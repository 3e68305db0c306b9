// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Inspection.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "config/Json.hpp"
#include "io/JsonLines.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

std::string sizesText(const std::vector<std::int64_t>& shape)
{
    std::vector<std::string> words;
    for (const std::int64_t size : shape)
    {
        words.push_back(std::to_string(size));
    }
    return '[' + join(words, ", ") + ']';
}


std::string fieldsText(const std::vector<FieldSpec>& fields)
{
    std::vector<std::string> words;
    for (const FieldSpec& field : fields)
    {
        words.push_back(field.name + (field.columnNames.size() > 1
            ? '(' + join(field.columnNames) + ')' : ""));
    }
    return join(words);
}


void addCard(std::string& text, const ModelCard& card)
{
    const auto line = [&](const std::string& what, const std::string& value)
    {
        if (!value.empty())
        {
            text += "    " + what + ": " + value + '\n';
        }
    };
    text += "card\n";
    line("producer", card.producer);
    line("torch", card.torch);
    line("versions", join(card.versions, ", "));
    line("object", card.object);
    line("inputs", fieldsText(card.inputs));
    line("edge inputs", fieldsText(card.edgeInputs));
    line("features", join(card.features));
    line("node columns", join(card.staticColumns, ", "));
    line("edge columns", join(card.edgeColumns));
    line("targets", fieldsText(card.targets) + ", " + (card.increment ? "increment" : "value")
        + (card.horizonTime ? " over " + numberText(*card.horizonTime) + " s"
                            : ", horizon " + std::to_string(card.horizon)));
    if (!card.interval.empty())
    {
        line("learnt over", shortText(card.interval[0]) + " to " + shortText(card.interval[1])
            + " s");
    }
    line("boundary rows", card.boundaryNodes ? "yes" : "no");
    line("arguments", join(card.arguments));
    line("precision", card.precision);
    line("mesh", card.mesh);
    line("training record", std::to_string(card.samples) + " samples, "
        + std::to_string(card.steps) + " steps");
    for (std::size_t i = 0, field = 0, column = 0; i < card.targetMinimum.size(); ++i)
    {
        line("range of " + card.targets[field].columnNames[column],
            numberText(card.targetMinimum[i]) + " to " + numberText(card.targetMaximum[i]));
        if (++column == card.targets[field].columnNames.size())
        {
            column = 0;
            ++field;
        }
    }
}


template<class Items, class Json>
std::string jsonList(const Items& items, const Json& json)
{
    std::string list;
    for (const auto& item : items)
    {
        list += (list.empty() ? "" : ",") + json(item);
    }
    return '[' + list + ']';
}

}


bool Inspection::good() const
{
    return std::all_of(checks.begin(), checks.end(),
        [](const Check& check) { return check.fault.empty(); });
}


std::int64_t Inspection::nNumbers() const
{
    std::int64_t sum = 0;
    for (const Tensor& tensor : tensors)
    {
        std::int64_t count = 1;
        for (const std::int64_t size : tensor.shape)
        {
            count *= size;
        }
        sum += count;
    }
    return sum;
}


std::string Inspection::text(bool withTensors) const
{
    std::string text = path + ": " + kind + '\n';
    for (const auto& [what, value] : facts)
    {
        text += "    " + what + ": " + value + '\n';
    }
    if (card)
    {
        addCard(text, *card);
    }
    if (!tensors.empty())
    {
        text += "tensors: " + std::to_string(tensors.size()) + " with "
            + std::to_string(nNumbers()) + " numbers\n";
    }
    if (withTensors)
    {
        for (const Tensor& tensor : tensors)
        {
            text += "    " + tensor.name + ' ' + sizesText(tensor.shape) + ' ' + tensor.type + '\n';
        }
    }
    if (!scales.empty())
    {
        text += "scales\n";
    }
    for (const ColumnScale& scale : scales)
    {
        text += "    " + scale.side + ' ' + scale.column + ": shift " + numberText(scale.shift)
            + ", scale " + numberText(scale.scale) + '\n';
    }
    text += "checks\n";
    for (const Check& check : checks)
    {
        text += "    " + check.what + ": " + (check.fault.empty() ? "good" : check.fault) + '\n';
    }
    return text;
}


std::string Inspection::json() const
{
    JsonObject words;
    for (const auto& [what, value] : facts)
    {
        words.add(what, value);
    }
    JsonObject object;
    object
        .add("path", path)
        .add("kind", kind)
        .add("good", good())
        .addRaw("facts", words.text())
        .addRaw("card", card ? card->json() : "null")
        .addRaw("tensors", jsonList(tensors, [](const Tensor& tensor)
        {
            return JsonObject()
                .add("name", tensor.name)
                .add("type", tensor.type)
                .addRaw("shape", jsonList(tensor.shape,
                    [](std::int64_t size) { return std::to_string(size); }))
                .text();
        }))
        .add("numbers", static_cast<long long>(nNumbers()))
        .addRaw("scales", jsonList(scales, [](const ColumnScale& scale)
        {
            return JsonObject()
                .add("side", scale.side)
                .add("column", scale.column)
                .add("shift", scale.shift)
                .add("scale", scale.scale)
                .text();
        }))
        .addRaw("checks", jsonList(checks, [](const Check& check)
        {
            return JsonObject()
                .add("what", check.what)
                .add("good", check.fault.empty())
                .add("fault", check.fault)
                .text();
        }));
    return object.text();
}

}
