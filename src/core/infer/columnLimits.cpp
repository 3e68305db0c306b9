// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/columnLimits.hpp"

#include "base/Error.hpp"
#include "config/SchemaReader.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace inSitu
{
namespace
{

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Limits
{
    std::optional<double> minimum;
    std::optional<double> maximum;

    void describe(Schema& schema)
    {
        schema.key("min", minimum, "least value");
        schema.key("max", maximum, "largest value");
        schema.check({"min"}, [this]() -> std::string
        {
            return minimum && maximum && *minimum > *maximum ? "min is above max" : "";
        });
    }
};

}


ColumnLimits columnLimits(const Node& limits, const std::vector<FieldSpec>& targets)
{
    if (limits.kind != Node::Kind::block)
    {
        throw ConfigError(limits.file, limits.line, "limits: a block is wanted, with a block of"
            " bounds for each field, as in 'limits { nut { min 0; } }'");
    }
    for (const auto& [name, node] : limits.entries)
    {
        const std::string& wanted = name;
        const bool known = std::any_of(targets.begin(), targets.end(),
            [&](const FieldSpec& field) { return field.name == wanted; });
        if (!known)
        {
            std::vector<std::string> names;
            for (const FieldSpec& field : targets)
            {
                names.push_back(field.name);
            }
            throw ConfigError(node.file, node.line, "limits: the model has no target '" + name
                + "'; it has " + join(names));
        }
    }

    ColumnLimits result;
    for (const FieldSpec& field : targets)
    {
        Limits bounds;
        if (const Node* node = limits.find(field.name))
        {
            readConfig(*node, "limits." + field.name,
                [&](Schema& schema) { bounds.describe(schema); });
        }
        result.minimum.insert(result.minimum.end(), field.columnNames.size(),
            bounds.minimum.value_or(-infinity));
        result.maximum.insert(result.maximum.end(), field.columnNames.size(),
            bounds.maximum.value_or(infinity));
    }
    return result;
}


std::vector<std::vector<double>> rangeByField(const std::vector<double>& values,
    const std::vector<FieldSpec>& targets, const Comm& comm)
{
    std::vector<int> fieldOfColumn;
    for (std::size_t field = 0; field < targets.size(); ++field)
    {
        fieldOfColumn.insert(fieldOfColumn.end(), targets[field].columnNames.size(),
            static_cast<int>(field));
    }

    // of −value, then of value
    std::vector<double> extremes(2*targets.size(), -infinity);
    for (std::size_t i = 0; i < values.size(); ++i)
    {
        const auto field = static_cast<std::size_t>(fieldOfColumn[i % fieldOfColumn.size()]);
        extremes[field] = std::max(extremes[field], -values[i]);
        extremes[targets.size() + field] = std::max(extremes[targets.size() + field], values[i]);
    }
    comm.max(Span<double>(extremes));

    std::vector<std::vector<double>> range(2);
    for (std::size_t field = 0; field < targets.size(); ++field)
    {
        range[0].push_back(-extremes[field]);
        range[1].push_back(extremes[targets.size() + field]);
    }
    return range;
}

}
