// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace inSitu
{

//- CRC-32 of zlib, gzip and PNG (polynomial 0xEDB88320), eight bytes at a time (Kounavis &
//  Berry 2008). previous continues a checksum: crc32(b, n, crc32(a, m)) is that of a, b.
std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t previous = 0);

}
