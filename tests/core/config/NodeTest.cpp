// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/Json.hpp"
#include "config/Node.hpp"
#include "config/YamlFile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace inSitu
{
namespace
{

TEST(Json, EscapesWhatJsonDoesNotTakeAsItIs)
{
    EXPECT_EQ(jsonString("a\"b\\c\n\t\r\b\f\x01/ü"),
        "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001/ü\"");
    EXPECT_EQ(jsonString(std::string_view("a\0b", 3)), "\"a\\u0000b\"");
}


TEST(Json, ReplacesBytesThatAreNotUtf8)
{
    EXPECT_EQ(jsonString("x\xFFy"), "\"x\\ufffdy\"");
    EXPECT_EQ(jsonString("\xC3"), "\"\\ufffd\"");                    // cut short
    EXPECT_EQ(jsonString("\xC0\xAF"), "\"\\ufffd\\ufffd\"");         // overlong '/'
    EXPECT_EQ(jsonString("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");  // a surrogate
    EXPECT_EQ(jsonString("\xF0\x9F\x8C\x80"), "\"\xF0\x9F\x8C\x80\"");   // a cyclone
}


TEST(Json, WritesTheShortestNumberThatReadsBack)
{
    EXPECT_EQ(jsonNumber(0.1), "0.1");
    EXPECT_EQ(jsonNumber(1.0/3.0), "0.3333333333333333");
    EXPECT_EQ(jsonNumber(-2.5e-310), "-2.5e-310");
    EXPECT_EQ(jsonNumber(std::nextafter(1.0, 2.0)), "1.0000000000000002");
    EXPECT_EQ(jsonNumber(std::numeric_limits<double>::infinity()), "null");
    EXPECT_EQ(jsonNumber(std::nan("")), "null");
}


TEST(Json, KnowsItsOwnNumbers)
{
    for (const char* number : {"0", "-0", "12", "-3.5", "1e5", "2.50E-07", "7e+2"})
    {
        EXPECT_TRUE(isJsonNumber(number)) << number;
    }
    for (const char* other : {"", "-", "012", ".5", "5.", "1e", "+3", "0x1f", "1 ", "nan", "1e5x"})
    {
        EXPECT_FALSE(isJsonNumber(other)) << other;
    }
}


TEST(Node, IsOneLineOfJson)
{
    Node quoted = Node::scalar("12");
    quoted.quoted = true;

    Node inner = Node::block();
    inner.add("rate", Node::scalar("1e-3"));
    inner.add("version", Node::scalar("1.2.3"));

    Node node = Node::block();
    node.add("on", Node::scalar("true"));
    node.add("zone", std::move(quoted));
    node.add("na\"me", Node::list({Node::scalar("U"), Node::scalar("4")}));
    node.add("inner", std::move(inner));
    node.add("nothing", Node::list({}));

    EXPECT_EQ(node.json(), R"({"on":true,"zone":"12","na\"me":["U",4],)"
        R"("inner":{"rate":1e-3,"version":"1.2.3"},"nothing":[]})");
    EXPECT_EQ(parseYaml(node.json(), "json").json(), node.json());
}


TEST(Node, FindsAndTakesEntries)
{
    Node node = Node::block();
    node.add("first", Node::scalar("3"));
    node.add("second", Node::scalar("5"));

    ASSERT_TRUE(node.find("second"));
    EXPECT_EQ(node.find("second")->text, "5");
    EXPECT_FALSE(node.find("third"));

    EXPECT_EQ(node.take("first").text, "3");
    EXPECT_FALSE(node.find("first"));
    EXPECT_THROW(node.take("first"), std::out_of_range);
}

}
}
