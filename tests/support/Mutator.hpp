// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace inSitu
{

//- Damages a file in 1 to 6 steps, the same for the same seed: bits, bytes, lengths, pieces
//  removed, repeated or taken from other files, the end cut off, opcodes of pickle put in
class Mutator
{
public:

    Mutator(std::uint64_t seed, const std::vector<std::string>& donors)
    :
        generator_(seed*0x9e3779b97f4a7c15u + 1),
        donors_(donors)
    {}

    std::string damaged(std::string bytes)
    {
        const std::size_t nSteps = 1 + below(6);
        for (std::size_t i = 0; i < nSteps; ++i)
        {
            step(bytes);
        }
        return bytes;
    }

private:

    //- A number of 0 .. limit - 1; 0 for a limit of 0
    std::size_t below(std::size_t limit)
    {
        return limit > 0 ? static_cast<std::size_t>(generator_() % limit) : 0;
    }

    //- Often a short length, now and then a long one
    std::size_t length(std::size_t limit)
    {
        return std::min(limit, below(8) > 0 ? 1 + below(32) : 1 + below(limit));
    }

    void step(std::string& bytes)
    {
        if (bytes.empty())
        {
            bytes = donors_[below(donors_.size())].substr(0, 64);
            return;
        }
        const std::size_t at = below(bytes.size());
        switch (below(10))
        {
            case 0: case 1:
                bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
                return;
            case 2:
            {
                static const unsigned char values[] = {0, 1, 0x7F, 0x80, 0xFE, 0xFF, '0', '.'};
                bytes[at] = static_cast<char>(values[below(sizeof(values))]);
                return;
            }
            case 3: return setNumber(bytes, at);
            case 4: bytes.erase(at, length(bytes.size() - at)); return;
            case 5: bytes.insert(at, bytes.substr(below(bytes.size()), length(64))); return;
            case 6:
            {
                const std::string& donor = donors_[below(donors_.size())];
                const std::size_t from = below(donor.size());
                const std::string piece = donor.substr(from, length(donor.size() - from));
                bytes.replace(at, std::min(piece.size(), bytes.size() - at), piece);
                return;
            }
            case 7:
                if (below(4) == 0)
                {
                    bytes.resize(at);
                }
                return;
            default: return putOpcode(bytes, at);
        }
    }

    //- A length or count in 1, 2, 4 or 8 bytes
    void setNumber(std::string& bytes, std::size_t at)
    {
        static const std::uint64_t values[] = {0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x10000,
            0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF,
            0x8000000000000000, 0xFFFFFFFFFFFFFFFF};
        const std::uint64_t value = values[below(sizeof(values)/sizeof(values[0]))];
        const std::size_t size = std::size_t(1) << below(4);
        for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i)
        {
            bytes[at + i] = static_cast<char>(value >> 8*i & 0xFF);
        }
    }

    void putOpcode(std::string& bytes, std::size_t at)
    {
        static const std::vector<std::string> pieces = {"(", ".", ")", "]", "}", "t", "u", "e", "s",
            "a", "b", "R", "Q", "N", "\x88", "\x85", "\x86", "\x87", "\x94", "\x93", "h\1", "q\1",
            "K\7", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", "cos\nsystem\n", "\x8c\2os",
            "ccollections\nOrderedDict\n)R", "ctorch._utils\n_rebuild_tensor_v2\n",
            "ctorch\nDoubleStorage\n", "{", "[", "\"", ":", ",", "\\ud800", "-1", "1e999", "null"};
        const std::string& piece = pieces[below(pieces.size())];
        bytes.replace(at, below(2)*std::min(piece.size(), bytes.size() - at), piece);
    }

    std::mt19937_64 generator_;
    const std::vector<std::string>& donors_;
};

}
