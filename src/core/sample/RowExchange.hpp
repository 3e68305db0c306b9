// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Span.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace inSitu
{

//- Brings rows from the ranks that have them to those that want them, by their names. Each rank
//  keeps a part of the list of names, so that none needs all of it.
class RowExchange
{
public:

    //- given: names (0 or more) of the rows that this rank has; wanted: of those that it gets.
    //  Collective. comm outlives this.
    RowExchange(Span<const std::int64_t> given, Span<const std::int64_t> wanted,
        const Comm& comm);

    //- Whether each row that is wanted somewhere is given once; the same on all ranks
    bool complete() const { return complete_; }

    //- rows [given, bytesPerRow] → [wanted, bytesPerRow]; what nobody gives is 0. Collective.
    Comm::Bytes move(Span<const std::uint8_t> rows, std::size_t bytesPerRow) const;

private:

    const Comm& comm_;
    std::size_t nWanted_;
    std::vector<std::vector<std::int64_t>> sent_;       // to each rank: places among given
    std::vector<std::vector<std::int64_t>> received_;   // from each: places among wanted
    bool complete_ = true;
};

}
