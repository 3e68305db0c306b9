// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/Crc32.hpp"

#include <array>

namespace inSitu
{
namespace
{

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// tables[k][b]: remainder of byte b with k zero bytes behind it
Tables makeTables()
{
    Tables tables;
    for (std::uint32_t byte = 0; byte < 256; ++byte)
    {
        std::uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit)
        {
            remainder = (remainder >> 1) ^ (remainder & 1 ? 0xEDB88320u : 0u);
        }
        tables[0][byte] = remainder;
    }
    for (std::size_t k = 1; k < tables.size(); ++k)
    {
        for (std::size_t byte = 0; byte < 256; ++byte)
        {
            const std::uint32_t before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
        }
    }
    return tables;
}

}


std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t previous)
{
    static const Tables tables = makeTables();

    const auto* bytes = static_cast<const unsigned char*>(data);
    std::uint32_t crc = ~previous;

    for (; size >= 8; size -= 8, bytes += 8)
    {
        const std::uint32_t first = crc ^ (bytes[0] | bytes[1] << 8 | bytes[2] << 16
            | static_cast<std::uint32_t>(bytes[3]) << 24);
        crc = tables[7][first & 0xFF] ^ tables[6][first >> 8 & 0xFF]
            ^ tables[5][first >> 16 & 0xFF] ^ tables[4][first >> 24]
            ^ tables[3][bytes[4]] ^ tables[2][bytes[5]] ^ tables[1][bytes[6]] ^ tables[0][bytes[7]];
    }
    for (; size > 0; --size, ++bytes)
    {
        crc = (crc >> 8) ^ tables[0][(crc ^ *bytes) & 0xFF];
    }
    return ~crc;
}

}
