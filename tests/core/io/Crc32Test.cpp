// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/Crc32.hpp"

#include <gtest/gtest.h>

#include <string>

namespace inSitu
{
namespace
{

// Expected values: zlib.crc32 of Python
TEST(Crc32, IsThatOfZlib)
{
    const std::string text = "123456789";
    EXPECT_EQ(crc32(text.data(), text.size()), 0xCBF43926u);

    const std::string sentence = "The quick brown fox jumps over the lazy dog";
    EXPECT_EQ(crc32(sentence.data(), sentence.size()), 0x414FA339u);

    EXPECT_EQ(crc32(nullptr, 0), 0u);
}


TEST(Crc32, ContinuesAtAnyPosition)
{
    const std::string sentence = "The quick brown fox jumps over the lazy dog";
    for (std::size_t cut = 0; cut <= sentence.size(); ++cut)
    {
        const std::uint32_t first = crc32(sentence.data(), cut);
        EXPECT_EQ(crc32(sentence.data() + cut, sentence.size() - cut, first), 0x414FA339u) << cut;
    }
}

}
}
