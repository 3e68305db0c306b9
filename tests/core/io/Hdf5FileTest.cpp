// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Error.hpp"
#include "io/Hdf5File.hpp"
#include "TemporaryFolder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <limits>

namespace inSitu
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

StateTree example()
{
    StateTree tree;
    tree.put("scales/mean", std::vector<double>{0.1, -2.5e-310, 1e300});
    tree.put("scales/deep/er", std::vector<float>{0.25f, std::numeric_limits<float>::infinity()});
    tree.put("matrix", Span<const std::int32_t>(std::vector<std::int32_t>{1, -2, 3, -4, 5, -6}),
        {{2, 3}});
    tree.put("generator", std::vector<std::uint8_t>{255, 0, 17});
    tree.put("nothing", Span<const double>(), {{0, 4}});
    tree.putInt("count", std::numeric_limits<std::int64_t>::min());
    tree.putDouble("rate", std::nan(""));
    tree.putText("configuration", "{\"name\":\"ä\"}\nsecond line");
    tree.putText("empty", "");
    tree.putText("scales/note", "of a group");
    tree.putText("matrix/note", "of a dataset");
    tree.putText("only/texts/here", std::string(200000, 'x'));
    return tree;
}


TEST(Hdf5File, GivesBackTheTree)
{
    const TemporaryFolder folder;
    const StateTree tree = example();

    writeHdf5(folder / "a.h5", tree);
    const StateTree back = readHdf5(folder / "a.h5");

    EXPECT_EQ(back.texts(), tree.texts());
    ASSERT_EQ(back.arrays().size(), tree.arrays().size());
    for (const auto& [name, array] : tree.arrays())
    {
        const StateTree::Array& other = back.getArray(name);
        EXPECT_EQ(other.type, array.type) << name;
        EXPECT_EQ(other.shape, array.shape) << name;
        ASSERT_EQ(other.bytes(), array.bytes()) << name;
        EXPECT_EQ(std::string(static_cast<const char*>(other.data.get()), other.bytes()),
            std::string(static_cast<const char*>(array.data.get()), array.bytes())) << name;
    }
}


TEST(Hdf5File, IsTheSameForTheSameTree)
{
    const TemporaryFolder folder;

    writeHdf5(folder / "a.h5", example());
    writeHdf5(folder / "b.h5", example());

    EXPECT_EQ(folder.read("a.h5"), folder.read("b.h5"));
}


TEST(Hdf5File, StaysBelowItsBound)
{
    const TemporaryFolder folder;
    StateTree tree;
    for (int i = 0; i < 1500; ++i)
    {
        const std::string name = "group" + std::to_string(i % 40) + "/deeper"
            + std::to_string(i % 7) + "/a rather long name of an entry " + std::to_string(i);
        tree.putDouble(name, 0.5*i);
        tree.putText(name + "/text", "text " + std::to_string(i));
    }
    tree.put("large", std::vector<double>(20000, 0.3));

    writeHdf5(folder / "a.h5", tree);

    EXPECT_LT(folder.read("a.h5").size(), hdf5Bytes(tree));
    EXPECT_EQ(readHdf5(folder / "a.h5").texts(), tree.texts());
}


TEST(Hdf5File, NamesFileAndFault)
{
    const TemporaryFolder folder;
    EXPECT_THAT([&]() { readHdf5(folder / "none.h5"); },
        testing::ThrowsMessage<Error>(testing::AllOf(HasSubstr("none.h5"),
            HasSubstr("No such file or directory"))));
    EXPECT_THAT([&]() { writeHdf5(folder / "none/a.h5", {}); },
        testing::ThrowsMessage<Error>(HasSubstr("No such file or directory")));

    folder.write("text.h5", std::string(4000, 'x'));
    EXPECT_THAT([&]() { readHdf5(folder / "text.h5"); },
        testing::ThrowsMessage<Error>(HasSubstr("text.h5")));

    StateTree tree;
    tree.putInt("a", 3);
    tree.putInt("a/b", 4);
    EXPECT_THAT([&]() { writeHdf5(folder / "a.h5", tree); },
        testing::ThrowsMessage<Error>(HasSubstr("entry 'a/b'")));

    StateTree zero;
    zero.putText("t", std::string("a\0b", 3));
    EXPECT_THAT([&]() { writeHdf5(folder / "a.h5", zero); },
        testing::ThrowsMessage<Error>(HasSubstr("entry 't': a text with a zero byte")));
}


TEST(Hdf5File, PrintsNothing)
{
    const TemporaryFolder folder;
    testing::internal::CaptureStderr();
    EXPECT_THROW(readHdf5(folder / "none.h5"), Error);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}


//- A file in the manner of h5py: attributes of many types, fixed strings
class ForeignFile : public testing::Test
{
protected:

    void SetUp() override
    {
        file_ = H5Fcreate((folder / "f.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    }

    StateTree read()
    {
        H5Fclose(file_);
        return readHdf5(folder / "f.h5");
    }

    template<class T>
    void attribute(const char* object, const char* name, hid_t type, std::vector<hsize_t> shape,
        const std::vector<T>& values)
    {
        const hid_t space = shape.empty() ? H5Screate(H5S_SCALAR)
            : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
        const hid_t id = H5Acreate_by_name(file_, object, name, type, space, H5P_DEFAULT,
            H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(id, type, values.data());
        H5Aclose(id);
        H5Sclose(space);
    }

    void dataset(const char* name, hid_t type, hsize_t size, const void* values)
    {
        const hid_t space = H5Screate_simple(1, &size, nullptr);
        const hid_t id = H5Dcreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT,
            H5P_DEFAULT);
        H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(id);
        H5Sclose(space);
    }

    static hid_t fixedString(std::size_t size, H5T_str_t padding)
    {
        const hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, size);
        H5Tset_strpad(type, padding);
        return type;
    }

    TemporaryFolder folder;
    hid_t file_;
};


TEST_F(ForeignFile, GivesAttributesBelowTheirObject)
{
    const std::vector<double> loss{0.5, 0.25};
    dataset("loss", H5T_NATIVE_DOUBLE, 2, loss.data());
    attribute<char>("/", "kind", fixedString(8, H5T_STR_NULLPAD), {},
        {'t', 'r', 'a', 'i', 'n', 'i', 'n', 'g'});
    attribute<char>("/", "loss", fixedString(6, H5T_STR_SPACEPAD), {},
        {'m', 's', 'e', ' ', ' ', ' '});
    attribute<std::int64_t>("/", "processor_size", H5T_NATIVE_INT64, {}, {3});
    attribute<double>("loss", "gamma", H5T_NATIVE_DOUBLE, {}, {0.75});
    attribute<std::int64_t>("loss", "milestones", H5T_NATIVE_INT64, {3}, {5, 11, 17});

    const StateTree tree = read();

    EXPECT_EQ(tree.getText("kind"), "training");
    EXPECT_EQ(tree.getText("loss"), "mse");
    EXPECT_EQ(tree.get<double>("loss"), loss);
    EXPECT_EQ(tree.getInt("processor_size"), 3);
    EXPECT_EQ(tree.getDouble("loss/gamma"), 0.75);
    EXPECT_THAT(tree.get<std::int64_t>("loss/milestones"), ElementsAre(5, 11, 17));
}


TEST_F(ForeignFile, WidensNumbers)
{
    const std::int8_t small[]{-3, 4};
    const std::uint16_t medium[]{65535, 7};
    const std::uint32_t large[]{4294967295u, 8};
    dataset("i8", H5T_NATIVE_INT8, 2, small);
    dataset("u16", H5T_NATIVE_UINT16, 2, medium);
    dataset("u32", H5T_NATIVE_UINT32, 2, large);

    const hid_t boolean = H5Tenum_create(H5T_NATIVE_INT8);
    const std::int8_t no = 0;
    const std::int8_t yes = 1;
    H5Tenum_insert(boolean, "FALSE", &no);
    H5Tenum_insert(boolean, "TRUE", &yes);
    attribute<std::int8_t>("/", "flag", boolean, {}, {1});

    const StateTree tree = read();

    EXPECT_THAT(tree.get<std::int32_t>("i8"), ElementsAre(-3, 4));
    EXPECT_THAT(tree.get<std::int32_t>("u16"), ElementsAre(65535, 7));
    EXPECT_THAT(tree.get<std::int64_t>("u32"), ElementsAre(4294967295, 8));
    EXPECT_THAT(tree.get<std::int32_t>("flag"), ElementsAre(1));
}


TEST_F(ForeignFile, JoinsListsOfStrings)
{
    const char* const words[]{"", "two", "three"};
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    dataset("words", type, 3, words);
    dataset("fixed", fixedString(3, H5T_STR_NULLTERM), 2, "ab\0cd\0");

    const StateTree tree = read();

    EXPECT_EQ(tree.getText("words"), "\ntwo\nthree");
    EXPECT_EQ(tree.getText("fixed"), "ab\ncd");
}


TEST_F(ForeignFile, RefusesWhatItCannotHold)
{
    const std::uint64_t large[]{5, 9223372036854775808u};
    dataset("u64", H5T_NATIVE_UINT64, 2, large);

    EXPECT_THAT([&]() { read(); },
        testing::ThrowsMessage<Error>(HasSubstr("entry 'u64' holds a number that does not fit")));
}


TEST_F(ForeignFile, RefusesTypesThatAreNoNumbers)
{
    const hid_t pair = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(pair, "x", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(pair, "y", 8, H5T_NATIVE_DOUBLE);
    const double values[]{1.5, 2.5};
    dataset("group", pair, 1, values);

    EXPECT_THAT([&]() { read(); },
        testing::ThrowsMessage<Error>(HasSubstr("entry 'group' is of a type that is not read")));
}


TEST_F(ForeignFile, EndsWhereAGroupContainsItself)
{
    H5Gclose(H5Gcreate2(file_, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Lcreate_hard(file_, "/", file_, "a/again", H5P_DEFAULT, H5P_DEFAULT);

    EXPECT_THAT([&]() { read(); }, testing::ThrowsMessage<Error>(HasSubstr("nested too deeply")));
}

}
}
