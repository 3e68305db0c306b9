// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/RunIdentity.hpp"

#include "base/Error.hpp"
#include "io/Crc32.hpp"

#include <algorithm>
#include <cmath>

namespace inSitu
{
namespace
{

// Written by this version, and the only one that it reads
constexpr int formatVersion = 5;


StateTree columnsOf(const Settings& settings, const TrainingCase& theCase, const CaseMesh& mesh)
{
    StateTree columns;
    columns.putText("inputs", join(columnNames(theCase.fields, theCase.inputs)));
    columns.putText("features", join(settings.object.features));
    columns.putText("targets", join(columnNames(theCase.fields, theCase.targets)));
    columns.putText("static", join(theCase.staticColumns));
    columns.putText("edges", join(mesh.state.geometry->edgeFeatureNames()));
    return columns;
}


//- Equal for equal graphs between patches of the same names, types and sizes
std::int64_t fingerprint(const CaseMesh& mesh)
{
    const MeshGraph& graph = *mesh.state.rows();
    std::uint32_t sum = crc32(mesh.text.data(), mesh.text.size());
    for (const Span<const std::int32_t> values
      : {graph.receiverStart(), graph.senders(), graph.faceOf()})
    {
        sum = crc32(values.data(), values.size()*sizeof(std::int32_t), sum);
    }
    return sum;
}


//- What differs; empty: nothing
std::string meshDifference(const StateTree& identity, const TrainingCase& theCase,
    const CaseMesh& mesh)
{
    if (identity.getInt("topology") != fingerprint(mesh))
    {
        return "another mesh: the checkpoint has " + identity.getText("mesh") + ", the run has "
            + mesh.text;
    }

    const std::vector<double> then = identity.get<double>("centres");
    const std::vector<double>& now = mesh.state.geometry->centres;
    double size = 0;
    for (const double coordinate : now)
    {
        size = std::max(size, std::abs(coordinate));
    }
    // A centre near 0 is a mean of points that are not, and these are rounded
    const double tolerance = theCase.pointRounding*size
        + 1e-6*meanEdgeLength(*mesh.state.graph, *mesh.state.geometry);
    for (std::size_t i = 0; i < now.size(); ++i)
    {
        if (i >= then.size() || !(std::abs(then[i] - now[i]) <= tolerance))
        {
            return "another mesh: same topology, but other points, first at "
                + mesh.placeOfRow(static_cast<std::int64_t>(i/3));
        }
    }
    return {};
}

}


StateTree saveIdentity(const Settings& settings, const TrainingCase& theCase,
    const CaseMesh& mesh)
{
    StateTree identity;
    identity.putInt("format", formatVersion);
    identity.putInt("topology", fingerprint(mesh));
    identity.putText("mesh", mesh.text);
    identity.put("centres", mesh.state.geometry->centres);
    identity.putText("versions", join(theCase.versions, ", "));
    identity.putTree("columns", columnsOf(settings, theCase, mesh));
    for (const auto& [path, value] : settings.values)
    {
        identity.putText("configuration/" + path, value);
    }
    return identity;
}


std::vector<std::string> requireSameRun
(
    const StateTree& identity,
    const Settings& settings,
    const TrainingCase& theCase,
    const CaseMesh& mesh,
    bool sameTime
)
{
    if (identity.getInt("format") != formatVersion)
    {
        throw IncompatibleState("format " + std::to_string(identity.getInt("format"))
            + " of another version of inSituFoam; this one reads "
            + std::to_string(formatVersion));
    }

    std::vector<std::string> faults;
    const StateTree columns = columnsOf(settings, theCase, mesh);
    for (const ConfigDifference& change
      : differences(identity.subTree("columns").texts(), columns.texts()))
    {
        faults.push_back("columns of " + change.text());
    }

    std::vector<std::string> applied;
    for (const ConfigDifference& change
      : differences(identity.subTree("configuration").texts(), settings.values))
    {
        (isFixedForever(change.path) ? faults : applied).push_back(change.text());
    }

    // Other columns or rows make another mesh of the same one
    if (faults.empty() && (sameTime || !theCase.meshMayChange))
    {
        const std::string difference = meshDifference(identity, theCase, mesh);
        if (!difference.empty())
        {
            faults.push_back(difference);
        }
    }
    if (!faults.empty())
    {
        throw IncompatibleState(join(faults, "; "));
    }
    return applied;
}

}
