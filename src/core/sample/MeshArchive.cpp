// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/MeshArchive.hpp"

#include "base/Error.hpp"

#include <algorithm>
#include <string>

namespace inSitu
{
namespace
{

// Numbers of parts that are not in the archive
constexpr std::int64_t none = -1;
constexpr std::int64_t ofPresent = -2;

template<class T>
using Shared = std::shared_ptr<const T>;


StateTree saved(const MeshGraph& graph) { return graph.save(); }
StateTree saved(const MeshGeometry& geometry) { return geometry.save(); }
StateTree saved(const RowIds& ids) { return ids.save(); }

template<class T>
StateTree saved(const std::vector<T>& values)
{
    StateTree state;
    state.put("values", values);
    return state;
}


void restore(const StateTree& state, Shared<MeshGraph>& part)
{
    part = std::make_shared<const MeshGraph>(MeshGraph::load(state));
}


void restore(const StateTree& state, Shared<MeshGeometry>& part)
{
    part = std::make_shared<const MeshGeometry>(MeshGeometry::load(state));
}


void restore(const StateTree& state, Shared<RowIds>& part)
{
    part = std::make_shared<const RowIds>(RowIds::load(state));
}


template<class T>
void restore(const StateTree& state, Shared<std::vector<T>>& part)
{
    part = std::make_shared<const std::vector<T>>(state.get<T>("values"));
}


//- One kind of part, each different object once, and which of them known have
template<class T>
void save(StateTree& state, const std::string& kind, const std::vector<MeshState>& states,
    const MeshState& present, const std::vector<MeshState>& known, Shared<T> MeshState::*part)
{
    std::vector<Shared<T>> distinct;
    std::vector<std::int64_t> numbers, knownNumbers;
    for (const MeshState& mesh : states)
    {
        const Shared<T>& value = mesh.*part;
        if (!value || value == present.*part)
        {
            numbers.push_back(value ? ofPresent : none);
            continue;
        }
        const auto place = std::find(distinct.begin(), distinct.end(), value);
        numbers.push_back(place - distinct.begin());
        if (place == distinct.end())
        {
            state.putTree(kind + '/' + std::to_string(distinct.size()), saved(*value));
            distinct.push_back(value);
        }
    }
    for (const MeshState& mesh : known)
    {
        const auto place = std::find(distinct.begin(), distinct.end(), mesh.*part);
        knownNumbers.push_back(place == distinct.end() ? none : place - distinct.begin());
    }
    state.put(kind + "/numbers", numbers);
    state.put(kind + "/known", knownNumbers);
    state.putInt(kind + "/count", static_cast<std::int64_t>(distinct.size()));
}


template<class T>
void load(const StateTree& state, const std::string& kind, std::vector<MeshState>& states,
    const MeshState& present, const std::vector<MeshState>& known, Shared<T> MeshState::*part)
{
    std::vector<Shared<T>> distinct(static_cast<std::size_t>(state.getInt(kind + "/count")));
    for (std::size_t i = 0; i < distinct.size(); ++i)
    {
        restore(state.subTree(kind + '/' + std::to_string(i)), distinct[i]);
    }

    // Not whatever equals a known part: a mesh may come back to an earlier state, as another object
    const std::vector<std::int64_t> knownNumbers = state.get<std::int64_t>(kind + "/known");
    for (std::size_t i = 0; i < std::min(known.size(), knownNumbers.size()); ++i)
    {
        const std::int64_t number = knownNumbers[i];
        const Shared<T>& mine = known[i].*part;
        if (mine && number >= 0 && number < static_cast<std::int64_t>(distinct.size())
            && *distinct[static_cast<std::size_t>(number)] == *mine)
        {
            distinct[static_cast<std::size_t>(number)] = mine;
        }
    }

    const std::vector<std::int64_t> numbers = state.get<std::int64_t>(kind + "/numbers");
    states.resize(std::max(states.size(), numbers.size()));
    for (std::size_t i = 0; i < numbers.size(); ++i)
    {
        if (numbers[i] == ofPresent)
        {
            states[i].*part = present.*part;
        }
        else if (numbers[i] >= 0 && numbers[i] < static_cast<std::int64_t>(distinct.size()))
        {
            states[i].*part = distinct[static_cast<std::size_t>(numbers[i])];
        }
        else if (numbers[i] != none)
        {
            throw Error("the saved mesh state " + std::to_string(i) + " names " + kind + ' '
                + std::to_string(numbers[i]) + " of " + std::to_string(distinct.size()));
        }
    }
}


//- Call with each kind of part
template<class Body>
void forParts(const Body& body)
{
    body("graph", &MeshState::graph);
    body("geometry", &MeshState::geometry);
    body("static", &MeshState::staticFeatures);
    body("mask", &MeshState::cellMask);
    body("ids", &MeshState::ids);
}

}


MeshArchive::MeshArchive(MeshState present)
:
    present_(std::move(present))
{}


std::int64_t MeshArchive::add(const MeshState& mesh)
{
    // Neighbours in time share theirs
    const auto place = std::find(states_.rbegin(), states_.rend(), mesh);
    if (place != states_.rend())
    {
        return states_.rend() - place - 1;
    }
    states_.push_back(mesh);
    return static_cast<std::int64_t>(states_.size()) - 1;
}


StateTree MeshArchive::save(const std::vector<MeshState>& known) const
{
    StateTree state;
    forParts([&](const char* kind, auto part)
        { inSitu::save(state, kind, states_, present_, known, part); });

    std::vector<std::int64_t> numbers;
    for (const MeshState& mesh : states_)
    {
        const auto place = std::find(known.begin(), known.end(), mesh);
        numbers.push_back(place == known.end() ? none : place - known.begin());
    }
    state.put("sameAs", numbers);
    return state;
}


std::vector<std::int64_t> MeshArchive::knownIn(const StateTree& state)
{
    return state.get<std::int64_t>("sameAs");
}


MeshArchive MeshArchive::load
(
    const StateTree& state,
    const MeshState& present,
    const std::vector<MeshState>& known
)
{
    MeshArchive archive(present);
    forParts([&](const char* kind, auto part)
        { inSitu::load(state, kind, archive.states_, present, known, part); });
    return archive;
}


const MeshState& MeshArchive::at(std::int64_t number) const
{
    if (number < 0 || number >= static_cast<std::int64_t>(states_.size()))
    {
        throw Error("there is no saved mesh state " + std::to_string(number) + "; there are "
            + std::to_string(states_.size()));
    }
    return states_[static_cast<std::size_t>(number)];
}

}
