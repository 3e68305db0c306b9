// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/TorchFile.hpp"

#include "TemporaryFolder.hpp"
#include "base/Error.hpp"
#include "io/Archive.hpp"
#include "io/StateDictionaryPickle.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace inSitu
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

const std::string folder = INSITU_TOP "/tests/support/physicsNemo/";


//- LONG1
std::string integer(std::int64_t value)
{
    std::string bytes = "\x8a\x08";
    for (int i = 0; i < 8; ++i)
    {
        bytes += static_cast<char>(value >> 8*i & 0xFF);
    }
    return bytes;
}


std::string word(const std::string& text)
{
    return "X" + std::string{static_cast<char>(text.size()), '\0', '\0', '\0'} + text;
}


std::string tuple(const std::vector<std::int64_t>& values)
{
    std::string bytes = "(";
    for (const std::int64_t value : values)
    {
        bytes += integer(value);
    }
    return bytes + 't';
}


//- A tensor in a pickle
struct Tensor
{
    std::string storage = "torch\nFloatStorage";
    std::int64_t nStored = 6;
    std::int64_t offset = 0;
    std::vector<std::int64_t> sizes{2, 3};
    std::vector<std::int64_t> strides{3, 1};

    std::string pickle() const
    {
        return "ctorch._utils\n_rebuild_tensor_v2\n((" + word("storage") + 'c' + storage + '\n'
            + word("0") + word("cpu") + integer(nStored) + "tQ" + integer(offset) + tuple(sizes)
            + tuple(strides) + "\x89}tR";
    }
};


const std::vector<float> ramp{0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f};


//- A file whose pickle is {'a': body}, with ramp as storage 0
std::string fileOf(const std::string& body, const ArchiveMembers& more = {})
{
    ArchiveMembers members{{"archive/data.pkl", "\x80\x02}" + word("a") + body + "s."},
        {"archive/byteorder", "little"},
        {"archive/data/0", std::string(reinterpret_cast<const char*>(ramp.data()), 24)}};
    for (const auto& [name, content] : more)
    {
        members[name] = content;
    }
    return zipArchive(members);
}


std::string faultOf(const std::string& bytes)
{
    try
    {
        readTorchState(bytes, "file");
    }
    catch (const Error& fault)
    {
        return fault.what();
    }
    return "none";
}


class TorchFileOfEveryType : public testing::TestWithParam<const char*>
{};

INSTANTIATE_TEST_SUITE_P(Protocols, TorchFileOfEveryType,
    testing::Values("types.pt", "protocol4.pt"),
    [](const auto& info) { return info.index == 0 ? "two" : "four"; });


// Written by tests/support/physicsNemo/make.py
TEST_P(TorchFileOfEveryType, GivesPythonsValues)
{
    const StateTree state = readTorchFile(folder + GetParam());

    EXPECT_THAT(state.get<float>("tensors/float32"), ElementsAre(0, 0.125, 0.25));
    EXPECT_THAT(state.get<double>("tensors/float64"), ElementsAre(1.0/3, -2e300));
    EXPECT_THAT(state.get<std::int64_t>("tensors/int64"), ElementsAre(1099511627776, -3));
    EXPECT_EQ(state.getArray("tensors/int64").shape, (std::vector<std::int64_t>{1, 2}));
    EXPECT_THAT(state.get<std::int32_t>("tensors/int32"), ElementsAre(-7, 2147483647));
    EXPECT_THAT(state.get<std::int32_t>("tensors/int8"), ElementsAre(-128, 5));
    EXPECT_THAT(state.get<std::uint8_t>("tensors/uint8"), ElementsAre(200, 3));
    EXPECT_THAT(state.get<std::uint8_t>("tensors/boolean"), ElementsAre(1, 0, 1));
    EXPECT_THAT(state.get<float>("tensors/parameter"), ElementsAre(0.75, -4));
    EXPECT_THAT(state.get<float>("tensors/scalar"), ElementsAre(2.5));
    EXPECT_TRUE(state.getArray("tensors/scalar").shape.empty());
    EXPECT_EQ(state.getArray("tensors/empty").shape, (std::vector<std::int64_t>{0, 3}));

    const auto half = state.get<float>("tensors/float16");
    EXPECT_THAT(half, ElementsAre(0.333251953125f, -65504, 5.9604644775390625e-8f, INFINITY, 0));
    EXPECT_TRUE(std::signbit(half[4]));
    EXPECT_THAT(state.get<float>("tensors/bfloat16"),
        ElementsAre(0.333984375f, -3.00405527047e38f));

    EXPECT_EQ(state.getInt("epoch"), 12);
    EXPECT_EQ(state.getInt("large"), 1099511627776);
    EXPECT_EQ(state.getInt("negative"), -70000);
    EXPECT_EQ(state.getDouble("rate"), 0.625);
    EXPECT_EQ(state.getInt("on"), 1);
    EXPECT_FALSE(state.has("nothing"));
    EXPECT_EQ(state.getText("name"), "Größe");
    EXPECT_EQ(state.getInt("list/0"), 3);
    EXPECT_EQ(state.getDouble("list/1/0"), 4.5);
    EXPECT_EQ(state.getText("list/1/1"), "x");
    EXPECT_THAT(state.get<float>("7/exp_avg"), ElementsAre(9));
}


TEST_P(TorchFileOfEveryType, TakesViewsOutOfTheirStorage)
{
    const StateTree state = readTorchFile(folder + GetParam());

    EXPECT_EQ(state.getArray("views/transposed").shape, (std::vector<std::int64_t>{6, 4}));
    std::vector<float> transposed;
    for (int i = 0; i < 24; ++i)
    {
        transposed.push_back(0.125f*static_cast<float>(i/4 + 6*(i % 4)));
    }
    EXPECT_EQ(state.get<float>("views/transposed"), transposed);
    EXPECT_THAT(state.get<float>("views/columns"),
        ElementsAre(0.25, 0.375, 1, 1.125, 1.75, 1.875, 2.5, 2.625));
    EXPECT_THAT(state.get<float>("views/tail"), ElementsAre(2.5, 2.625, 2.75, 2.875));
    EXPECT_THAT(state.get<float>("views/every_third"),
        ElementsAre(0.125, 0.5, 0.875, 1.25, 1.625, 2, 2.375, 2.75));
}


TEST(TorchFile, ChecksTensorsAgainstTheirStorage)
{
    const StateTree good = readTorchState(fileOf(Tensor{}.pickle()), "file");
    EXPECT_EQ(good.get<float>("a"), ramp);

    const auto faultWith = [](const std::function<void(Tensor&)>& change)
    {
        Tensor tensor;
        change(tensor);
        return faultOf(fileOf(tensor.pickle()));
    };
    const auto beyond = HasSubstr("\"a\" reaches beyond its storage of 6");
    EXPECT_THAT(faultWith([](Tensor& t) { t.offset = 1; }), beyond);
    EXPECT_THAT(faultWith([](Tensor& t) { t.strides = {4, 1}; }), beyond);
    EXPECT_THAT(faultWith([](Tensor& t) { t.sizes = {2, 4}; }), beyond);
    EXPECT_THAT(faultWith([](Tensor& t) { t.sizes = {1LL << 62, 1LL << 62}; }), beyond);
    EXPECT_THAT(faultWith([](Tensor& t) { t.strides = {1LL << 62, 1LL << 62}; }), beyond);
    EXPECT_THAT(faultWith([](Tensor& t) { t.offset = INT64_MAX; }), beyond);
    EXPECT_THAT(faultWith([](Tensor& t) { t.sizes = {0, 3}; t.offset = 7; }), beyond);
    EXPECT_THAT(faultWith([](Tensor& t) { t.sizes = {7}; t.strides = {0}; }),
        HasSubstr("repeats elements"));
    EXPECT_THAT(faultWith([](Tensor& t) { t.offset = -1; }), HasSubstr("no count"));
    EXPECT_THAT(faultWith([](Tensor& t) { t.strides = {-3, 1}; }), HasSubstr("no count"));
    EXPECT_THAT(faultWith([](Tensor& t) { t.strides = {3}; }), HasSubstr("2 sizes and 1 strides"));
    EXPECT_THAT(faultWith([](Tensor& t) { t.nStored = 5; }), HasSubstr("record has 24 bytes"));
    EXPECT_THAT(faultWith([](Tensor& t) { t.storage = "torch\nDoubleStorage"; }),
        HasSubstr("6 elements of 8 bytes"));
    EXPECT_THAT(faultWith([](Tensor& t) { t.storage = "torch\nComplexFloatStorage"; }),
        HasSubstr("\"torch.ComplexFloatStorage\" is refused"));
    EXPECT_THAT(faultWith([](Tensor& t) { t.storage = "torch._utils\n_rebuild_tensor_v2"; }),
        HasSubstr("which is refused"));
}


TEST(TorchFile, RefusesWhatIsNoStateDictionary)
{
    EXPECT_THAT(faultOf(fileOf("cposix\nsystem\n" + word("true") + "\x85R")),
        HasSubstr("\"posix.system\" is refused"));
    EXPECT_THAT(faultOf(fileOf("ctorch._utils\n_rebuild_parameter\nN\x89}\x87R")),
        HasSubstr("without a tensor"));
    EXPECT_THAT(faultOf(fileOf("ctorch\nFloatStorage\n)R")), HasSubstr("call of"));
    EXPECT_THAT(faultOf(fileOf("ctorch._utils\n_rebuild_tensor_v2\n)R")),
        HasSubstr("0 arguments"));
    EXPECT_THAT(faultOf(fileOf("ctorch\nFloatStorage\n")), HasSubstr("\"a\" is a name"));
    EXPECT_THAT(faultOf(fileOf(word("x") + 'Q')), HasSubstr("\"a\" is a storage"));
    EXPECT_THAT(faultOf(fileOf("}" + std::string("NNs"))), HasSubstr("key that is a None"));
    EXPECT_THAT(faultOf(fileOf("Ks" + std::string("s") + word("a") + "N")),
        HasSubstr("\"a\" is there twice"));
    EXPECT_THAT(faultOf(fileOf("N", {{"archive/byteorder", "big"}})), HasSubstr("\"big\""));
    EXPECT_THAT(faultOf(fileOf("N", {{"archive/constants.pkl", ""}})), HasSubstr("TorchScript"));
    EXPECT_THAT(faultOf(zipArchive({{"archive/data/0", ""}})), HasSubstr("no data.pkl"));
    EXPECT_THAT(faultOf(zipArchive({{"x/data.pkl", "\x80\x02]."}})), HasSubstr("holds a list"));
    EXPECT_THAT(faultOf("\x80\x02\x8a\nl\xfc"), HasSubstr("torch before 1.6"));
}


// A list in itself; a tower of tuples that each hold the one below twice; one long text often
TEST(TorchFile, BoundsWhatASmallFileBecomes)
{
    EXPECT_THAT(faultOf(fileOf("]q\1h\1a")), HasSubstr("nested too deeply"));

    std::string tower = "K\7";
    for (int i = 0; i < 28; ++i)
    {
        tower += "q\1h\1\x86";
    }
    EXPECT_THAT(faultOf(fileOf(tower)), HasSubstr("eight times the memory"));

    std::string often = "(" + word(std::string(120, 'x')) + "q\1";
    for (int i = 0; i < 550; ++i)
    {
        often += "h\1";
    }
    EXPECT_THAT(faultOf(fileOf(often + "t")), HasSubstr("eight times the memory"));
}


TEST(StateDictionaryPickle, IsReadBack)
{
    StateTree state;
    state.put("weight", std::vector<float>{0.5f, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12.5f});
    const NamedArrays arrays{
        {"z.weight", {StateTree::Type::float32, {2, 3, 2}, state.getArray("weight").data}},
        {"a.bias", {StateTree::Type::float32, {12}, state.getArray("weight").data}}};
    const std::string raw(static_cast<const char*>(state.getArray("weight").data.get()), 48);
    const StateTree back = readTorchState(zipArchive({{"archive/data.pkl",
        stateDictionaryPickle(arrays)}, {"archive/data/0", raw}, {"archive/data/1", raw}}), "file");

    EXPECT_EQ(back.getArray("z.weight").shape, (std::vector<std::int64_t>{2, 3, 2}));
    EXPECT_EQ(back.get<float>("z.weight"), state.get<float>("weight"));
    EXPECT_EQ(back.get<float>("a.bias"), state.get<float>("weight"));
}

}
}
