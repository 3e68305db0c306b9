// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/ModelCard.hpp"

#include "base/Error.hpp"
#include "config/Json.hpp"
#include "config/JsonReader.hpp"
#include "io/JsonLines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>

namespace inSitu
{
namespace
{

constexpr int formatVersion = 1;
constexpr std::int64_t longestHorizon = 100000;     // as in a dictionary

// ---- writing

template<class Values, class Text>
std::string jsonList(const Values& values, const Text& text)
{
    std::string list = "[";
    for (const auto& value : values)
    {
        list += (list.size() > 1 ? "," : "") + text(value);
    }
    return list + ']';
}


std::string jsonWords(const std::vector<std::string>& words)
{
    return jsonList(words, [](const std::string& word) { return jsonString(word); });
}


std::string jsonNumbers(const std::vector<double>& numbers)
{
    return jsonList(numbers, [](double number) { return jsonNumber(number); });
}


//- onFaces: surface fields, which have an orientation
std::string jsonFields(const std::vector<FieldSpec>& fields, bool onFaces = false)
{
    return jsonList(fields, [&](const FieldSpec& field)
    {
        JsonObject object;
        object
            .add("name", field.name)
            .add("type", field.type)
            .addRaw("columns", jsonWords(field.columnNames))
            .addRaw("dimensions", jsonNumbers(field.dimensions));
        return onFaces ? object.add("oriented", field.oriented).text() : object.text();
    });
}


// ---- reading

//- As OpenFOAM's words: fields are written to files of that name
bool isFieldName(const std::string& name)
{
    return !name.empty() && name.find_first_of("/\\\"';{}") == std::string::npos
     && std::all_of(name.begin(), name.end(),
            [](unsigned char c) { return c > ' ' && c != 127; });
}


//- Entries of a block of the card, with messages that name them
class Reader
{
public:

    Reader(const Node& block, std::string place)
    :
        block_(block),
        place_(std::move(place))
    {
        if (block.kind != Node::Kind::block)
        {
            fail("is not a JSON object");
        }
    }

    [[noreturn]] void fail(const std::string& what) const
    {
        throw Error(place_ + ' ' + what);
    }

    const Node* find(const std::string& key) const
    {
        const Node* node = block_.find(key);
        return node && node->kind == Node::Kind::scalar && node->text.empty() && !node->quoted
          ? nullptr : node;
    }

    void read(const std::string& key, std::string& value) const
    {
        if (const Node* node = find(key))
        {
            value = text(*node, key);
        }
    }

    void read(const std::string& key, bool& value) const
    {
        if (const Node* node = find(key))
        {
            const std::string& word = scalar(*node, key);
            if (node->quoted || (word != "true" && word != "false"))
            {
                fail("has " + key + " '" + word + "', which is neither true nor false");
            }
            value = word == "true";
        }
    }

    void read(const std::string& key, std::int64_t& value) const
    {
        if (const Node* node = find(key))
        {
            const double number = toNumber(*node, key);
            if (std::trunc(number) != number || std::abs(number) > 9e15)
            {
                fail("has " + key + ' ' + node->text + ", which is no integer");
            }
            value = static_cast<std::int64_t>(number);
        }
    }

    void read(const std::string& key, std::optional<double>& value) const
    {
        if (const Node* node = find(key))
        {
            value = toNumber(*node, key);
        }
    }

    void read(const std::string& key, std::vector<std::string>& words) const
    {
        readList(key, words, [&](const Node& item) { return text(item, key); });
    }

    void read(const std::string& key, std::vector<double>& numbers) const
    {
        readList(key, numbers, [&](const Node& item) { return toNumber(item, key); });
    }

    void read(const std::string& key, std::vector<FieldSpec>& fields) const
    {
        readList(key, fields, [&](const Node& item)
        {
            const Reader reader(item, place_ + ", " + key);
            FieldSpec field;
            reader.read("name", field.name);
            if (!isFieldName(field.name))
            {
                reader.fail("has a field '" + field.name + "', which is no name of a field");
            }
            reader.read("type", field.type);
            field.columnNames = {field.name};
            reader.read("columns", field.columnNames);
            reader.read("dimensions", field.dimensions);
            reader.read("oriented", field.oriented);
            if (field.columnNames.empty())
            {
                reader.fail("has a field '" + field.name + "' without columns");
            }
            if (!field.dimensions.empty() && field.dimensions.size() != 7)
            {
                reader.fail("has a field '" + field.name + "' with "
                    + std::to_string(field.dimensions.size()) + " dimensions instead of 7");
            }
            return field;
        });
    }

private:

    const std::string& scalar(const Node& node, const std::string& key) const
    {
        if (node.kind != Node::Kind::scalar)
        {
            fail("has a list or an object where " + key + " wants one value");
        }
        return node.text;
    }

    const std::string& text(const Node& node, const std::string& key) const
    {
        const std::string& value = scalar(node, key);
        if (!node.quoted)
        {
            fail("has " + key + ' ' + value + ", which is no text in quotes");
        }
        return value;
    }

    double toNumber(const Node& node, const std::string& key) const
    {
        const std::string& word = scalar(node, key);
        double number = 0;
        const bool read = !node.quoted && isJsonNumber(word)
         && std::from_chars(word.data(), word.data() + word.size(), number).ec == std::errc();
        if (!read)
        {
            fail("has " + key + " '" + word + "', which is no number");
        }
        return number;
    }

    template<class Value, class Convert>
    void readList(const std::string& key, std::vector<Value>& values, const Convert& convert) const
    {
        const Node* node = find(key);
        if (!node)
        {
            return;
        }
        if (node->kind != Node::Kind::list)
        {
            fail("has no list where " + key + " wants one");
        }
        values.clear();
        for (const Node& item : node->items)
        {
            values.push_back(convert(item));
        }
    }

    const Node& block_;
    std::string place_;
};


int countColumns(const std::vector<FieldSpec>& fields)
{
    int count = 0;
    for (const FieldSpec& field : fields)
    {
        count += static_cast<int>(field.columnNames.size());
    }
    return count;
}


void requireDistinct(const Reader& reader, const std::string& key,
    const std::vector<FieldSpec>& fields)
{
    std::set<std::string> names;
    for (const FieldSpec& field : fields)
    {
        if (!names.insert(field.name).second)
        {
            reader.fail("names '" + field.name + "' twice in " + key);
        }
    }
}


void requireFields(const Reader& reader, const std::string& key,
    const std::vector<FieldSpec>& fields)
{
    if (fields.empty())
    {
        reader.fail("names no " + key);
    }
    requireDistinct(reader, key, fields);
}


void requireScales(const Reader& reader, const std::string& name,
    const std::vector<double>& values, std::size_t nColumns, bool divides)
{
    if (!values.empty() && values.size() != nColumns)
    {
        reader.fail("has " + std::to_string(values.size()) + " numbers in " + name + " for "
            + std::to_string(nColumns) + " columns");
    }
    for (const double value : values)
    {
        if (!std::isfinite(value) || (divides && !(value > 0)))
        {
            reader.fail("has " + jsonNumber(value) + " in " + name + (divides
                ? "; a scale is above 0" : "; a shift is finite"));
        }
    }
}


void requireMeasure(const Reader& reader, const std::string& name,
    const std::optional<double>& value)
{
    if (value && !(*value > 0 && std::isfinite(*value)))
    {
        reader.fail("has an entry " + name + " that is not above 0");
    }
}


void requireRange(const Reader& reader, const ModelCard& card)
{
    const std::size_t size = card.targetMinimum.size();
    if (size != card.targetMaximum.size()
     || (size > 0 && size != static_cast<std::size_t>(card.nTargetColumns())))
    {
        reader.fail("has targetMinimum and targetMaximum of " + std::to_string(size) + " and "
            + std::to_string(card.targetMaximum.size()) + " columns for "
            + std::to_string(card.nTargetColumns()) + " target columns");
    }
    for (std::size_t c = 0; c < size; ++c)
    {
        if (card.targetMinimum[c] > card.targetMaximum[c])
        {
            reader.fail("has a targetMinimum above its targetMaximum");
        }
    }
}


void requireInterval(const Reader& reader, const std::vector<double>& interval)
{
    const bool good = interval.empty()
        || (interval.size() == 2 && interval[0] > 0 && interval[0] <= interval[1]);
    if (!good)
    {
        reader.fail("has an entry interval that is not the least and the largest of times above 0");
    }
}


void requireHorizon(const Reader& reader, const ModelCard& card)
{
    const bool steps = card.horizon >= (card.increment ? 1 : 0) && card.horizon <= longestHorizon;
    if (card.horizonTime ? !(*card.horizonTime > 0) : !steps)
    {
        reader.fail("has a horizon with which nothing can be predicted; it is 1 to "
            + std::to_string(longestHorizon) + " executions, 0 with target value, or horizonTime,"
            " seconds above 0");
    }
}


void requireWords(const Reader& reader, const std::string& what,
    const std::vector<std::string>& words, const std::vector<std::string>& known)
{
    for (const std::string& word : words)
    {
        if (std::find(known.begin(), known.end(), word) == known.end())
        {
            reader.fail("has " + what + " '" + word + "'; known are " + join(known, " "));
        }
    }
}

}


bool ModelCard::hasScales() const
{
    return !inputShift.empty() || !inputScale.empty() || !targetShift.empty()
        || !targetScale.empty() || edgeLength || cellVolume
        || !edgeInputScale.empty();
}


int ModelCard::nInputColumns() const
{
    return countColumns(inputs) + static_cast<int>(features.size());
}


int ModelCard::nTargetColumns() const
{
    return countColumns(targets);
}


int ModelCard::nEdgeInputs() const
{
    return countColumns(edgeInputs);
}


std::string ModelCard::json() const
{
    JsonObject object;
    object
        .add("format", formatVersion)
        .add("producer", producer)
        .add("torch", torch)
        .addRaw("versions", jsonWords(versions))
        .add("object", this->object)
        .addRaw("inputs", jsonFields(inputs))
        .addRaw("edgeInputs", jsonFields(edgeInputs, true))
        .addRaw("features", jsonWords(features))
        .addRaw("targets", jsonFields(targets))
        .addRaw("staticColumns", jsonWords(staticColumns))
        .addRaw("edgeColumns", jsonWords(edgeColumns))
        .add("target", increment ? "increment" : "value")
        .addRaw("horizon", horizonTime ? "null" : std::to_string(horizon))
        .addRaw("horizonTime", horizonTime ? jsonNumber(*horizonTime) : "null")
        .addRaw("interval", jsonNumbers(interval))
        .add("boundaryNodes", boundaryNodes)
        .add("mesh", mesh)
        .add("precision", precision)
        .add("parameters", static_cast<long long>(parameters))
        .add("samples", static_cast<long long>(samples))
        .add("steps", static_cast<long long>(steps))
        .addRaw("targetMinimum", jsonNumbers(targetMinimum))
        .addRaw("targetMaximum", jsonNumbers(targetMaximum));
    if (!arguments.empty())
    {
        object.addRaw("arguments", jsonWords(arguments));
    }
    const auto addNumbers = [&](const char* name, const std::vector<double>& numbers)
    {
        if (!numbers.empty())
        {
            object.addRaw(name, jsonNumbers(numbers));
        }
    };
    addNumbers("inputShift", inputShift);
    addNumbers("inputScale", inputScale);
    addNumbers("targetShift", targetShift);
    addNumbers("targetScale", targetScale);
    if (edgeLength)
    {
        object.add("edgeLength", *edgeLength);
    }
    if (cellVolume)
    {
        object.add("cellVolume", *cellVolume);
    }
    addNumbers("edgeInputScale", edgeInputScale);
    return object.addRaw("configuration", configuration).text();
}


ModelCard ModelCard::parse(const std::string& text, const std::string& place)
{
    Node root;
    try
    {
        root = parseJson(text, place);
    }
    catch (const ConfigError& fault)
    {
        throw Error(place + ' ' + fault.message());
    }
    const Reader reader(root, place);

    ModelCard card;
    std::int64_t format = 0;
    reader.read("format", format);
    if (format != formatVersion)
    {
        reader.fail("has format " + std::to_string(format) + "; this version reads "
            + std::to_string(formatVersion));
    }
    reader.read("producer", card.producer);
    reader.read("torch", card.torch);
    reader.read("versions", card.versions);
    reader.read("object", card.object);
    reader.read("inputs", card.inputs);
    reader.read("features", card.features);
    reader.read("targets", card.targets);
    reader.read("edgeInputs", card.edgeInputs);
    reader.read("staticColumns", card.staticColumns);
    reader.read("edgeColumns", card.edgeColumns);
    reader.read("horizon", card.horizon);
    reader.read("horizonTime", card.horizonTime);
    reader.read("interval", card.interval);
    reader.read("boundaryNodes", card.boundaryNodes);
    reader.read("mesh", card.mesh);
    reader.read("precision", card.precision);
    reader.read("parameters", card.parameters);
    reader.read("samples", card.samples);
    reader.read("steps", card.steps);
    reader.read("targetMinimum", card.targetMinimum);
    reader.read("targetMaximum", card.targetMaximum);
    reader.read("arguments", card.arguments);
    reader.read("inputShift", card.inputShift);
    reader.read("inputScale", card.inputScale);
    reader.read("targetShift", card.targetShift);
    reader.read("targetScale", card.targetScale);
    reader.read("edgeLength", card.edgeLength);
    reader.read("cellVolume", card.cellVolume);
    reader.read("edgeInputScale", card.edgeInputScale);
    if (const Node* configuration = reader.find("configuration"))
    {
        card.configuration = configuration->json();
    }

    std::string target;
    reader.read("target", target);
    if (target != "increment" && target != "value")
    {
        reader.fail("has target '" + target + "'; it is increment or value");
    }
    card.increment = target == "increment";

    requireFields(reader, "inputs", card.inputs);
    requireFields(reader, "targets", card.targets);
    requireDistinct(reader, "edgeInputs", card.edgeInputs);
    requireRange(reader, card);
    requireInterval(reader, card.interval);
    requireHorizon(reader, card);
    requireWords(reader, "argument", card.arguments, {"nodes", "static", "edge_index", "edges"});
    requireWords(reader, "precision", {card.precision}, {"float32", "float64"});
    const auto nInputs = static_cast<std::size_t>(card.nInputColumns());
    const auto nTargets = static_cast<std::size_t>(card.nTargetColumns());
    requireScales(reader, "inputShift", card.inputShift, nInputs, false);
    requireScales(reader, "inputScale", card.inputScale, nInputs, true);
    requireScales(reader, "targetShift", card.targetShift, nTargets, false);
    requireScales(reader, "targetScale", card.targetScale, nTargets, true);
    requireMeasure(reader, "edgeLength", card.edgeLength);
    requireMeasure(reader, "cellVolume", card.cellVolume);
    requireScales(reader, "edgeInputScale", card.edgeInputScale,
        static_cast<std::size_t>(card.nEdgeInputs()), true);
    return card;
}

}
