// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/RunIdentity.hpp"

#include "base/agree.hpp"

#include <algorithm>
#include <cmath>

namespace inSitu
{
namespace
{

// Written by this version, and the only one that it reads
constexpr int formatVersion = 7;


StateTree columnsOf(const Settings& settings, const TrainingCase& theCase, const CaseMesh& mesh)
{
    StateTree columns;
    columns.putText("inputs", join(columnNames(theCase.fields, theCase.inputs)));
    columns.putText("features", join(settings.object.features));
    columns.putText("targets", join(columnNames(theCase.fields, theCase.targets)));
    columns.putText("static", join(theCase.staticColumns));
    columns.putText("edges", join(edgeColumnNames(theCase, mesh)));
    return columns;
}


//- All precisions but float64 keep samples, parameters and optimiser in float32
bool isOtherStorage(const ConfigDifference& change)
{
    const std::string wide = "\"float64\"";     // words of entries are quoted
    return change.path == "training.precision" && change.before != wide && change.after != wide;
}


//- First row that lies elsewhere; empty: none. then: where the rows were.
std::string pointDifference(const std::vector<double>& then, const TrainingCase& theCase,
    const CaseMesh& mesh, const Comm& comm)
{
    const std::vector<double>& now = mesh.state.geometry->centres;
    double size = 0;
    for (const double coordinate : now)
    {
        size = std::max(size, std::abs(coordinate));
    }
    // A centre near 0 is a mean of points that are not, and these are rounded
    const double tolerance = theCase.pointRounding*largestOf(comm, size)
        + 1e-6*largestOf(comm, meanEdgeLength(*mesh.state.graph, *mesh.state.geometry));
    for (std::size_t i = 0; i < now.size(); ++i)
    {
        if (i >= then.size() || !(std::abs(then[i] - now[i]) <= tolerance))
        {
            return mesh.placeOfRow(static_cast<std::int64_t>(i/3));
        }
    }
    return {};
}


//- What differs; empty: nothing
std::string meshDifference(const StateTree& identity, const SavedRows& rows,
    const TrainingCase& theCase, const CaseMesh& mesh, const Comm& comm)
{
    if (identity.getText("mesh") != mesh.text || rows.areOfAnotherMesh())
    {
        return "another mesh: the checkpoint has " + identity.getText("mesh") + ", the run has "
            + mesh.text;
    }
    const std::optional<std::vector<double>> then = rows.centres();
    const std::string place =
        then ? firstText(comm, pointDifference(*then, theCase, mesh, comm)) : std::string();
    return place.empty() ? place
        : "another mesh: same topology, but other points, first at " + place;
}

}


StateTree saveIdentity(const Settings& settings, const TrainingCase& theCase,
    const CaseMesh& mesh, const Comm& comm)
{
    StateTree identity;
    identity.putInt("format", formatVersion);
    identity.putTree("topology",
        TopologyMark::of(mesh.state, *mesh.state.names(), comm).save());
    identity.putText("mesh", mesh.text);
    identity.putText("versions", join(theCase.versions, ", "));
    identity.putTree("columns", columnsOf(settings, theCase, mesh));
    for (const auto& [path, value] : settings.values)
    {
        identity.putText("configuration/" + path, value);
    }
    return identity;
}


void requireFormat(const StateTree& identity)
{
    if (identity.getInt("format") != formatVersion)
    {
        throw IncompatibleState("format " + std::to_string(identity.getInt("format"))
            + " of another version of inSituFoam; this one reads "
            + std::to_string(formatVersion));
    }
}


std::vector<std::string> requireSameRun
(
    const StateTree& identity,
    const SavedRows& rows,
    const Settings& settings,
    const TrainingCase& theCase,
    const CaseMesh& mesh,
    bool sameTime,
    const Comm& comm
)
{
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
        (isFixedForever(change.path) && !isOtherStorage(change) ? faults : applied)
            .push_back(change.text());
    }

    // Other columns or rows make another mesh of the same one
    if (faults.empty() && (sameTime || !theCase.meshMayChange))
    {
        const std::string difference = meshDifference(identity, rows, theCase, mesh, comm);
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
