// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/requireCase.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "config/featureWords.hpp"

#include <vector>

namespace inSitu
{
namespace
{

std::string dimensionsText(const std::vector<double>& dimensions)
{
    std::string text;
    for (const double exponent : dimensions)
    {
        text += (text.empty() ? "[" : " ") + numberText(exponent);
    }
    return text + ']';
}


class Differences
{
public:

    void compare(const std::string& what, const std::string& model, const std::string& now)
    {
        if (model != now)
        {
            add(what + ": the model has " + (model.empty() ? "none" : model) + ", the case "
                + (now.empty() ? "none" : now));
        }
    }

    void add(const std::string& text) { text_ += (text_.empty() ? "" : "; ") + text; }

    void raise(const std::string& beginning) const
    {
        if (!text_.empty())
        {
            throw Error(beginning + ": " + text_);
        }
    }

private:

    std::string text_;
};


void compareFields(Differences& differences, const std::string& kind,
    const std::vector<FieldSpec>& model, const TrainingCase& theCase,
    const std::vector<int>& chosen)
{
    for (std::size_t i = 0; i < model.size(); ++i)
    {
        const FieldSpec& now = theCase.fields[chosen[i]];
        const std::string name = kind + ' ' + model[i].name;
        if (!model[i].type.empty())
        {
            differences.compare(name + ", type", model[i].type, now.type);
        }
        differences.compare(name + ", columns", join(model[i].columnNames), join(now.columnNames));
        if (!model[i].type.empty())
        {
            differences.compare(name + ", orientation", model[i].oriented ? "one" : "",
                now.oriented ? "one" : "");
        }
        if (!model[i].dimensions.empty())
        {
            differences.compare(name + ", dimensions", dimensionsText(model[i].dimensions),
                dimensionsText(now.dimensions));
        }
    }
}


//- A network of ours takes all
bool uses(const ModelCard& card, const std::string& argument)
{
    return card.arguments.empty() || contains(card.arguments, argument);
}

}


void requireCase(const ModelCard& card, const TrainingCase& theCase, const CaseMesh& mesh)
{
    Differences differences;
    compareFields(differences, "input", card.inputs, theCase, theCase.inputs);
    compareFields(differences, "target", card.targets, theCase, theCase.targets);
    compareFields(differences, "edge input", card.edgeInputs, theCase, theCase.edgeInputs);
    for (const std::string& feature : card.features)
    {
        if (!contains(sampleFeatures(), feature))
        {
            differences.add("feature " + feature + ": known here are "
                + join(sampleFeatures()));
        }
    }
    if (uses(card, "static") && !card.staticColumns.empty())
    {
        differences.compare("node columns", join(card.staticColumns), join(theCase.staticColumns));
    }
    if (uses(card, "edges") && !card.edgeColumns.empty())
    {
        differences.compare("edge columns", join(card.edgeColumns),
            join(edgeColumnNames(theCase, mesh)));
    }
    differences.raise("the model does not fit the case");
}


void requireSameColumns(const ModelCard& before, const ModelCard& now, const std::string& path)
{
    const auto columns = [](const std::vector<FieldSpec>& fields)
    {
        std::vector<std::string> names;
        for (const FieldSpec& field : fields)
        {
            names.push_back(field.type + ' ' + field.name + '(' + join(field.columnNames) + ')');
        }
        return join(names);
    };
    const auto ahead = [](const ModelCard& card)
    {
        return std::string(card.increment ? "increment " : "value ")
            + (card.horizonTime ? numberText(*card.horizonTime) + " s"
                                : std::to_string(card.horizon));
    };

    Differences differences;
    const auto compare = [&](const std::string& what, const std::string& a, const std::string& b)
    {
        if (a != b)
        {
            differences.add(what + " were " + a + " and are " + b);
        }
    };
    compare("inputs", columns(before.inputs), columns(now.inputs));
    compare("edge inputs", columns(before.edgeInputs), columns(now.edgeInputs));
    compare("features", join(before.features), join(now.features));
    compare("targets", columns(before.targets), columns(now.targets));
    compare("node columns", join(before.staticColumns), join(now.staticColumns));
    compare("edge columns", join(before.edgeColumns), join(now.edgeColumns));
    compare("boundary rows", before.boundaryNodes ? "there" : "not there",
        now.boundaryNodes ? "there" : "not there");
    compare("target and horizon", ahead(before), ahead(now));
    compare("precisions", before.precision, now.precision);
    differences.raise("model \"" + path + "\" was replaced by another one that does not fit");
}

}
