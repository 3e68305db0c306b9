// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/Pickle.hpp"

#include "base/Error.hpp"

#include <gmock/gmock.h>

namespace inSitu
{
namespace
{

using testing::HasSubstr;
using namespace std::string_literals;

const std::vector<std::string> allowed{"torch._utils._rebuild_tensor_v2"};

const std::string protocol = "\x80\x02";


Pickle read(const std::string& body)
{
    return Pickle(protocol + body, allowed, "data.pkl");
}


std::string faultOf(const std::string& body)
{
    try
    {
        read(body);
    }
    catch (const Error& fault)
    {
        return fault.what();
    }
    return "none";
}


//- The value as Python writes it
std::string text(const Pickle& pickle, Pickle::Index index)
{
    using Kind = Pickle::Kind;
    const Pickle::Value& value = pickle[index];
    std::string items;
    for (const Pickle::Index item : value.items)
    {
        items += (items.empty() ? "" : " ") + text(pickle, item);
    }
    switch (value.kind)
    {
        case Kind::none: return "None";
        case Kind::boolean: return value.integer ? "True" : "False";
        case Kind::integer: return std::to_string(value.integer);
        case Kind::real: return std::to_string(value.real);
        case Kind::text: return '\'' + value.text + '\'';
        case Kind::global: return value.text;
        case Kind::list: return '[' + items + ']';
        case Kind::tuple: return '(' + items + ')';
        case Kind::dict: return '{' + items + '}';
        case Kind::call: return "call " + items;
        case Kind::persistent: return "persistent " + items;
    }
    return {};
}


std::string valueOf(const std::string& body)
{
    const Pickle pickle = read(body);
    return text(pickle, pickle.root());
}


// pickle.dumps((None, True, False, 255, 65535, -2, 2**40, -2**33, 0.15625, 'ä'), 2)
TEST(Pickle, ReadsPlainValues)
{
    EXPECT_EQ(valueOf("(N\x88\x89K\xffM\xff\xffJ\xfe\xff\xff\xff\x8a\x06\0\0\0\0\0\x01"
        "\x8a\x05\0\0\0\0\xfe" "G?\xc4\0\0\0\0\0\0X\x02\0\0\0\xc3\xa4tq\0."s),
        "(None True False 255 65535 -2 1099511627776 -8589934592 0.156250 'ä')");
    EXPECT_EQ(valueOf("\x8a\x00."s), "0");
}


// pickle.dumps({'a': [1, 2], 'b': (), 3: ([4],)}, 2) and OrderedDict(k=1) in protocols 2, 4
TEST(Pickle, ReadsContainers)
{
    EXPECT_EQ(valueOf("}q\0(X\x01\0\0\0aq\x01]q\x02(K\x01K\x02" "eX\x01\0\0\0bq\x03)K\x03]q\x04K"
        "\x04" "a\x85q\x05u."s), "{'a' [1 2] 'b' () 3 ([4])}");
    EXPECT_EQ(valueOf("ccollections\nOrderedDict\nq\0)Rq\x01X\x01\0\0\0kq\x02K\x01s."s), "{'k' 1}");

    const Pickle four("\x80\x04\x95)\0\0\0\0\0\0\0\x8c\x0b" "collections\x94\x8c\x0bOrderedDict"
        "\x94\x93\x94)R\x94\x8c\x01k\x94K\x01s."s, allowed, "data.pkl");
    EXPECT_EQ(text(four, four.root()), "{'k' 1}");
}


TEST(Pickle, ReadsTheMemo)
{
    EXPECT_EQ(valueOf("(X\x01\0\0\0aq\x05h\x05r\x01\x02\0\0K\x07j\x01\x02\0\0h\x05t."s),
        "('a' 'a' 7 'a' 'a')");
}


TEST(Pickle, KeepsCallsAndDropsAttributes)
{
    EXPECT_EQ(valueOf("ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x02tR."s),
        "call torch._utils._rebuild_tensor_v2 (1 2)");
    EXPECT_EQ(valueOf("X\x01\0\0\0sK\x04\x86Q."s), "persistent ('s' 4)");
    EXPECT_EQ(valueOf("ccollections\nOrderedDict\n)R}X\x09\0\0\0_metadataNsb."s), "{}");
}


TEST(Pickle, RefusesEveryOtherName)
{
    EXPECT_EQ(faultOf("cos\nsystem\n(X\x02\0\0\0lst R."s), "'data.pkl', byte 2: \"os.system\" is "
        "refused: a file of weights may name only collections.OrderedDict, "
        "torch._utils._rebuild_tensor_v2; nothing was executed");
    EXPECT_THAT(faultOf("\x8c\x08" "builtins\x8c\x04" "eval\x93."s),
        HasSubstr("\"builtins.eval\""));
    EXPECT_THAT(faultOf("ccollections\nOrderedDict.fromkeys\n."s), HasSubstr("is refused"));
    EXPECT_THAT(faultOf("c" + std::string(5000, 'a') + "\n\x01\n."), HasSubstr("\"aaaa"));
    EXPECT_LT(faultOf("c" + std::string(5000, 'a') + "\nb\n.").size(), 400u);
}


TEST(Pickle, RefusesCallsOfValuesAndForeignOpcodes)
{
    EXPECT_THAT(faultOf("X\x02\0\0\0os)R."s), HasSubstr("a call of a str is refused"));
    EXPECT_THAT(faultOf("ccollections\nOrderedDict\n]R."s), HasSubstr("call of a name"));
    EXPECT_THAT(faultOf("ccollections\nOrderedDict\n(]tR."s), HasSubstr("with arguments"));
    EXPECT_THAT(faultOf("ctorch._utils\n_rebuild_tensor_v2\n)R}b."s),
        HasSubstr("attributes of a call"));
    EXPECT_THAT(faultOf("(ios\nsystem\n."s), HasSubstr("INST"));
    EXPECT_THAT(faultOf("ccollections\nOrderedDict\n)\x81."s), HasSubstr("NEWOBJ"));
    EXPECT_THAT(faultOf("U\x01" "a."s), HasSubstr("SHORT_BINSTRING"));
    EXPECT_THAT(faultOf("\xff."s), HasSubstr("number 255"));
    EXPECT_THAT(faultOf("\x80\x05N."s), HasSubstr("protocol 5"));
    EXPECT_THAT(faultOf("\x80\x01N."s), HasSubstr("protocol 1"));
}


TEST(Pickle, RefusesWhatDoesNotAddUp)
{
    for (const std::string& body : {"."s, "NN."s, "N.N"s, "("s, "(N."s, "t."s, "\x85."s, "N(\x85."s,
        "}K\x01s."s, "}(K\x01u."s, "]K\x01K\x02s."s, "Na."s, "h\x01."s, "j\1\0\0\0."s, "q\0."s,
        "(q\0."s, "X\xff\xff\xff\x7f" "a."s, "G\0\0."s, "\x8a\x09\0\0\0\0\0\0\0\0\0."s, "cos\n"s,
        "cos"s, ""s, "\x80"s, "KQ"s, "Q."s, "Nb."s, "K\1K\1\x93."s, "u."s, "e."s, "}e."s})
    {
        EXPECT_NE(faultOf(body), "none") << testing::PrintToString(body);
    }
}


TEST(Pickle, BoundsMemory)
{
    EXPECT_THAT(faultOf(std::string(2000000, '}') + '.'), HasSubstr("more than a million"));
    EXPECT_THAT(faultOf(std::string(2000000, '(') + '.'), HasSubstr("more than a million"));
    EXPECT_THAT(faultOf(std::string(65 << 20, 'N')), HasSubstr("64 MiB"));

    std::string refersOften = "Nq\1";
    for (int i = 0; i < 1200000; ++i)
    {
        refersOften += "h\1";
    }
    EXPECT_THAT(faultOf(refersOften), HasSubstr("more than a million"));
}

}
}
