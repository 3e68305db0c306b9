// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sample/RowExchange.hpp"
#include "sample/TopologyMark.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- The rows that the ranks of an earlier run have saved, beside those of this run
class SavedRows
{
public:

    enum class Match
    {
        same,           //!< every rank has the rows that it had
        elsewhere,      //!< other ranks have them: values can be brought there
        unknown         //!< nobody can tell which row is which
    };

    //- What a rank saves of its rows: names, checksum of the graph, centres
    static StateTree save(const MeshState& mesh);

    //- parts: what save() gave on those of the nRanks ranks of the earlier run whose parts this
    //  rank has read; mark: of that run. comm outlives this. Collective. Throws AgreedError for a
    //  damaged part.
    SavedRows(std::vector<StateTree> parts, int nRanks, const TopologyMark& mark,
        const MeshState& mesh, const Comm& comm);

    Match match() const { return match_; }

    //- The earlier run had another mesh, as the names of its rows tell
    bool areOfAnotherMesh() const { return differ_; }

    int nRanks() const { return nRanks_; }

    //- Where the rows of this rank were [nNodes, 3]; nothing if unknown. Collective.
    std::optional<std::vector<double>> centres() const;

    //- Values of rows
    struct Columns
    {
        StateTree::Type type;
        int n;
        bool faces;                     //!< behind those of the cells there are boundary rows
    };

    //- The entry of that name in each of the parts [rows, columns], as that of the rows here. Only
    //  if elsewhere. Throws AgreedError if one does not fit. Collective.
    StateTree::Array move(const std::vector<StateTree>& parts, const std::string& name,
        const Columns& columns) const;

private:

    const Comm& comm_;
    int nRanks_;
    Match match_ = Match::unknown;
    bool differ_ = false;
    std::vector<StateTree> parts_;
    std::vector<std::size_t> nCells_;   // of each part
    std::vector<std::size_t> nRows_;
    std::optional<RowExchange> cells_;
    std::optional<RowExchange> faces_;
};

}
