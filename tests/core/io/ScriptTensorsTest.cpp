// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/scriptTensors.hpp"

#include "base/Error.hpp"

#include <gmock/gmock.h>

namespace inSitu
{
namespace
{

using testing::HasSubstr;

std::string count(int value)
{
    return std::string("K") + static_cast<char>(value);
}


std::string textOf(const std::string& text)
{
    return std::string("X") + static_cast<char>(text.size()) + std::string(3, '\0') + text;
}


//- A module with one tensor [3, rows] over the record "7", as LibTorch writes it
std::string moduleWith(int elements, int offset, int rows, int rowStride,
    const std::string& type = "Float")
{
    const std::string storage = "(" + textOf("storage") + "ctorch\n" + type + "Storage\n"
        + textOf("7") + textOf("cpu") + count(elements) + "tQ";
    const std::string tensor = "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + count(offset)
        + "(" + count(rows) + count(3) + "t(" + count(rowStride) + count(1) + "t"
        + "\x89" "ccollections\nOrderedDict\n)RtR";
    return "\x80\x02" "c__torch__\nNet\n)\x81}(" + textOf("weight") + tensor + "ub.";
}


std::string faultOf(const std::string& pickle, std::size_t bytes = 48)
{
    try
    {
        requireWholeTensors(pickle, "data.pkl", [&](const std::string& record)
        {
            EXPECT_EQ(record, "7");
            return bytes;
        });
        return "none";
    }
    catch (const Error& fault)
    {
        return fault.what();
    }
}


TEST(ScriptTensors, MustLieInTheirRecords)
{
    EXPECT_EQ(faultOf(moduleWith(12, 0, 4, 3)), "none");
    EXPECT_EQ(faultOf(moduleWith(12, 1, 3, 4)), "none");
    EXPECT_THAT(faultOf(moduleWith(13, 0, 4, 3)), HasSubstr("a storage of 13 elements"));
    EXPECT_THAT(faultOf(moduleWith(12, 0, 4, 3, "Double")), HasSubstr("a storage of 12 elements"));
    EXPECT_EQ(faultOf(moduleWith(12, 0, 4, 3, "Double"), 96), "none");
    EXPECT_THAT(faultOf(moduleWith(12, 1, 4, 3)), HasSubstr("goes beyond its storage"));
    EXPECT_THAT(faultOf(moduleWith(12, 0, 5, 3)), HasSubstr("goes beyond its storage"));
    EXPECT_THAT(faultOf(moduleWith(12, 0, 4, 4)), HasSubstr("goes beyond its storage"));
    EXPECT_THAT(faultOf(moduleWith(12, 13, 4, 3)), HasSubstr("goes beyond its storage"));
    // No element, nothing to read
    EXPECT_EQ(faultOf(moduleWith(12, 0, 0, 3)), "none");
    EXPECT_THAT(faultOf(moduleWith(12, 0, 4, 3, "Strange")), HasSubstr("\"torch.StrangeStorage\""));
    EXPECT_THAT(faultOf("\x80\x02" "d."), HasSubstr("DICT"));
}

}
}
