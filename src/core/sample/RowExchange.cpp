// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/RowExchange.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"
#include "base/packed.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace inSitu
{
namespace
{

using Lists = std::vector<std::vector<std::int64_t>>;

//- A list for each rank
Lists swapped(const Lists& lists, const Comm& comm)
{
    std::vector<Comm::Bytes> outgoing;
    for (const auto& list : lists)
    {
        outgoing.push_back(packed(list));
    }
    Lists incoming;
    for (const Comm::Bytes& bytes : comm.swap(outgoing))
    {
        incoming.push_back(unpacked<std::int64_t>(bytes));
    }
    return incoming;
}


double largestIn(Span<const std::int64_t> ids)
{
    return ids.empty() ? -1 : static_cast<double>(*std::max_element(ids.begin(), ids.end()));
}


double leastIn(Span<const std::int64_t> ids)
{
    return ids.empty() ? 0 : static_cast<double>(*std::min_element(ids.begin(), ids.end()));
}


//- Who keeps the entry of a name: equal shares from the least name to the largest
class Register
{
public:

    Register(Span<const std::int64_t> given, Span<const std::int64_t> wanted, const Comm& comm)
    {
        // Names of faces begin behind those of the internal ones
        const double none = 1e300;
        const double least = leastOf(comm, wanted.empty() ? none : leastIn(wanted));
        const double largest = largestOf(comm, std::max(largestIn(given), largestIn(wanted)));
        first_ = least == none ? 0 : static_cast<std::int64_t>(least);
        const auto n = std::max<std::int64_t>(static_cast<std::int64_t>(largest) + 1 - first_, 1);
        share_ = (n + comm.size() - 1)/comm.size();
        begin_ = first_ + comm.rank()*share_;
    }

    bool knows(std::int64_t id) const { return id >= first_; }
    int keeper(std::int64_t id) const { return static_cast<int>((id - first_)/share_); }

    //- Of a name that this rank keeps
    std::size_t place(std::int64_t id) const { return static_cast<std::size_t>(id - begin_); }

    std::size_t share() const { return static_cast<std::size_t>(share_); }

private:

    std::int64_t first_;
    std::int64_t share_;
    std::int64_t begin_;
};

}


RowExchange::RowExchange
(
    Span<const std::int64_t> given,
    Span<const std::int64_t> wanted,
    const Comm& comm
)
:
    comm_(comm),
    nWanted_(wanted.size()),
    sent_(comm.size())
{
    const Register names(given, wanted, comm);

    // Pairs of name and place
    Lists asked(comm.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
    {
        std::vector<std::int64_t>& list = asked[names.keeper(wanted[i])];
        list.insert(list.end(), {wanted[i], static_cast<std::int64_t>(i)});
    }
    const Lists asking = swapped(asked, comm);

    // Rank and place of each name that this rank keeps
    std::vector<std::int64_t> home(2*names.share(), -1);
    for (int rank = 0; rank < comm.size(); ++rank)
    {
        for (std::size_t i = 0; i < asking[rank].size(); i += 2)
        {
            const std::size_t entry = 2*names.place(asking[rank][i]);
            home[entry] = rank;
            home[entry + 1] = asking[rank][i + 1];
        }
    }

    // Those who give look there
    Lists offered(comm.size()), placesOffered(comm.size());
    for (std::size_t i = 0; i < given.size(); ++i)
    {
        if (names.knows(given[i]))
        {
            offered[names.keeper(given[i])].push_back(given[i]);
            placesOffered[names.keeper(given[i])].push_back(static_cast<std::int64_t>(i));
        }
    }
    Lists answers;
    for (const auto& list : swapped(offered, comm))
    {
        answers.emplace_back();
        for (const std::int64_t id : list)
        {
            const auto entry = home.begin() + static_cast<std::ptrdiff_t>(2*names.place(id));
            answers.back().insert(answers.back().end(), entry, entry + 2);
        }
    }
    answers = swapped(answers, comm);

    Lists places(comm.size());
    for (int keeper = 0; keeper < comm.size(); ++keeper)
    {
        for (std::size_t i = 0; i < placesOffered[keeper].size(); ++i)
        {
            const std::int64_t rank = answers[keeper][2*i];
            if (rank >= 0)
            {
                sent_[rank].push_back(placesOffered[keeper][i]);
                places[rank].push_back(answers[keeper][2*i + 1]);
            }
        }
    }
    received_ = swapped(places, comm);

    // A name that is wanted twice is found in one of the places
    bool good = true;
    std::vector<bool> found(nWanted_, false);
    std::size_t nFound = 0;
    for (const auto& list : received_)
    {
        for (const std::int64_t place : list)
        {
            good = good && !found[place];
            found[place] = true;
            ++nFound;
        }
    }
    complete_ = !anyRank(comm, !good || nFound != nWanted_);
}


Comm::Bytes RowExchange::move(Span<const std::uint8_t> rows, std::size_t bytesPerRow) const
{
    std::vector<Comm::Bytes> outgoing(sent_.size());
    for (std::size_t rank = 0; rank < sent_.size(); ++rank)
    {
        outgoing[rank].reserve(sent_[rank].size()*bytesPerRow);
        for (const std::int64_t place : sent_[rank])
        {
            const std::uint8_t* const row = rows.data() + place*bytesPerRow;
            outgoing[rank].insert(outgoing[rank].end(), row, row + bytesPerRow);
        }
    }

    Comm::Bytes result(nWanted_*bytesPerRow);
    const std::vector<Comm::Bytes> incoming = comm_.swap(outgoing);
    for (std::size_t rank = 0; rank < incoming.size(); ++rank)
    {
        const std::uint8_t* row = incoming[rank].data();
        for (const std::int64_t place : received_[rank])
        {
            std::memcpy(result.data() + place*bytesPerRow, row, bytesPerRow);
            row += bytesPerRow;
        }
    }
    return result;
}

}
