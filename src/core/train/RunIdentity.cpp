// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/RunIdentity.hpp"

#include "base/Error.hpp"

#include <cmath>

namespace inSitu
{
namespace
{

// Written by this version, and the only one that it reads
constexpr int formatVersion = 1;


StateTree columnsOf(const TrainingCase& theCase)
{
    StateTree columns;
    columns.putText("inputs", join(columnNames(theCase.fields, theCase.inputs)));
    columns.putText("targets", join(columnNames(theCase.fields, theCase.targets)));
    columns.putText("static", join(theCase.staticColumns));
    return columns;
}


void compareMesh(const StateTree& identity, const TrainingCase& theCase,
    std::vector<std::string>& faults)
{
    if (identity.getText("topology") != theCase.topologyFingerprint)
    {
        faults.push_back("another mesh: the checkpoint has " + identity.getText("mesh")
            + ", the run has " + theCase.topologyText);
        return;
    }

    const std::vector<double> then = identity.get<double>("centres");
    const std::vector<double>& now = theCase.mesh.geometry->centres;
    const double tolerance = 1e-6*meanEdgeLength(*theCase.mesh.graph, *theCase.mesh.geometry);
    for (std::size_t i = 0; i < now.size(); ++i)
    {
        if (i >= then.size() || !(std::abs(then[i] - now[i]) <= tolerance))
        {
            faults.push_back("another mesh: same topology, but other points, first at "
                + theCase.placeOfRow(static_cast<std::int64_t>(i/3)));
            return;
        }
    }
}

}


StateTree saveIdentity(const Settings& settings, const TrainingCase& theCase)
{
    StateTree identity;
    identity.putInt("format", formatVersion);
    identity.putText("topology", theCase.topologyFingerprint);
    identity.putText("mesh", theCase.topologyText);
    identity.put("centres", theCase.mesh.geometry->centres);
    identity.putText("versions", join(theCase.versions, ", "));
    identity.putTree("columns", columnsOf(theCase));
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
    const TrainingCase& theCase
)
{
    if (identity.getInt("format") != formatVersion)
    {
        throw IncompatibleState("format " + std::to_string(identity.getInt("format"))
            + " of another version of inSituFoam; this one reads "
            + std::to_string(formatVersion));
    }

    std::vector<std::string> faults;
    compareMesh(identity, theCase, faults);
    for (const ConfigDifference& change
      : differences(identity.subTree("columns").texts(), columnsOf(theCase).texts()))
    {
        faults.push_back("columns of " + change.text());
    }

    std::vector<std::string> applied;
    for (const ConfigDifference& change
      : differences(identity.subTree("configuration").texts(), settings.values))
    {
        (isFixedForever(change.path) ? faults : applied).push_back(change.text());
    }

    if (!faults.empty())
    {
        throw IncompatibleState(join(faults, "; "));
    }
    return applied;
}

}
