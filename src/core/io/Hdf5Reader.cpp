// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Error.hpp"
#include "io/Hdf5File.hpp"
#include "io/Hdf5Handle.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace inSitu
{
namespace
{

// A group may be linked into itself
constexpr int maximumDepth = 64;

struct Target
{
    StateTree::Type type;
    hid_t memory;
};


//- Datasets and attributes are read alike
struct Source
{
    hid_t id;
    bool isAttribute;
    std::string place;      //!< for messages

    Hdf5Handle type() const
    {
        return Hdf5Handle(isAttribute ? H5Aget_type(id) : H5Dget_type(id), H5Tclose, place);
    }

    Hdf5Handle space() const
    {
        return Hdf5Handle(isAttribute ? H5Aget_space(id) : H5Dget_space(id), H5Sclose, place);
    }

    void read(hid_t memoryType, void* memory) const
    {
        checkHdf5(isAttribute ? H5Aread(id, memoryType, memory)
            : H5Dread(id, memoryType, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory), place);
    }
};


Target integerTarget(hid_t type)
{
    const std::size_t size = H5Tget_size(type);
    if (H5Tget_sign(type) == H5T_SGN_NONE)
    {
        return size == 1 ? Target{StateTree::Type::uint8, H5T_NATIVE_UINT8}
            : size == 2 ? Target{StateTree::Type::int32, H5T_NATIVE_INT32}
            : Target{StateTree::Type::int64, H5T_NATIVE_INT64};
    }
    return size <= 4 ? Target{StateTree::Type::int32, H5T_NATIVE_INT32}
        : Target{StateTree::Type::int64, H5T_NATIVE_INT64};
}


Target targetOf(hid_t type, const std::string& place)
{
    switch (H5Tget_class(type))
    {
        case H5T_INTEGER:
        case H5T_ENUM:
            if (H5Tget_size(type) <= 8)
            {
                return integerTarget(type);
            }
            break;
        case H5T_FLOAT:
            if (H5Tget_size(type) <= 8)
            {
                return H5Tget_size(type) <= 4 ? Target{StateTree::Type::float32, H5T_NATIVE_FLOAT}
                    : Target{StateTree::Type::float64, H5T_NATIVE_DOUBLE};
            }
            break;
        default:
            break;
    }
    throw Error(place + " is of a type that is not read; numbers and strings are");
}


std::vector<std::int64_t> shapeOf(hid_t space, const std::string& place)
{
    if (H5Sget_simple_extent_type(space) == H5S_NULL)
    {
        return {0};
    }
    std::vector<hsize_t> extents(checkHdf5(H5Sget_simple_extent_ndims(space), place));
    H5Sget_simple_extent_dims(space, extents.data(), nullptr);
    return {extents.begin(), extents.end()};
}


//- HDF5 clips an unsigned number that is too large for int64 to the largest one
void refuseClipped(const StateTree::Array& array, const std::string& place)
{
    const auto* const values = static_cast<const std::int64_t*>(array.data.get());
    if (std::find(values, values + array.count(), std::numeric_limits<std::int64_t>::max())
        != values + array.count())
    {
        throw Error(place + " holds a number that does not fit into 64 bits with sign");
    }
}


StateTree::Array readNumbers(const Source& source, hid_t type)
{
    const Target target = targetOf(type, source.place);

    StateTree::Array array;
    array.type = target.type;
    array.shape = shapeOf(source.space(), source.place);

    const std::shared_ptr<char[]> memory(new char[array.bytes()]);
    if (array.count() > 0)
    {
        source.read(target.memory, memory.get());
    }
    array.data = memory;

    if (H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 8
        && H5Tget_sign(type) == H5T_SGN_NONE)
    {
        refuseClipped(array, source.place);
    }
    return array;
}


std::vector<std::string> readVariableStrings(const Source& source, hid_t type, std::size_t count)
{
    std::vector<char*> pointers(count, nullptr);
    source.read(type, pointers.data());

    std::vector<std::string> lines;
    for (char* const pointer : pointers)
    {
        lines.emplace_back(pointer ? pointer : "");
        H5free_memory(pointer);
    }
    return lines;
}


std::vector<std::string> readFixedStrings(const Source& source, hid_t type, std::size_t count)
{
    const std::size_t size = H5Tget_size(type);
    std::string memory(size*count, '\0');
    source.read(type, memory.data());

    const bool padded = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < count; ++i)
    {
        const char* const begin = memory.data() + i*size;
        std::string line(begin, strnlen(begin, size));
        if (padded)
        {
            line.erase(line.find_last_not_of(' ') + 1);
        }
        lines.push_back(std::move(line));
    }
    return lines;
}


std::string readStrings(const Source& source, hid_t type)
{
    StateTree::Array extent;
    extent.shape = shapeOf(source.space(), source.place);
    const std::size_t count = extent.count();
    if (count == 0)
    {
        return {};
    }
    const std::vector<std::string> lines = H5Tis_variable_str(type) > 0
        ? readVariableStrings(source, type, count) : readFixedStrings(source, type, count);

    std::string text = lines[0];
    for (std::size_t i = 1; i < count; ++i)
    {
        text += '\n' + lines[i];
    }
    return text;
}


class Reader
{
public:

    explicit Reader(std::string what)
    :
        what_(std::move(what))
    {}

    //- An object and all below it; path is empty for the root
    void visit(hid_t object, const std::string& path, int depth)
    {
        if (depth > maximumDepth)
        {
            throw Error(what_ + ", entry '" + path + "' is nested too deeply");
        }
        if (H5Iget_type(object) == H5I_DATASET)
        {
            put(path, {object, false, placeOf(path)});
        }
        else if (H5Iget_type(object) == H5I_GROUP)
        {
            visitLinks(object, path, depth);
        }
        visitAttributes(object, path);
    }

    StateTree take() { return std::move(tree_); }

private:

    std::string placeOf(const std::string& path) const
    {
        return what_ + ", entry '" + path + '\'';
    }

    static std::string below(const std::string& path, const std::string& name)
    {
        return path.empty() ? name : path + '/' + name;
    }

    void visitLinks(hid_t group, const std::string& path, int depth)
    {
        H5G_info_t info;
        checkHdf5(H5Gget_info(group, &info), placeOf(path));
        for (hsize_t i = 0; i < info.nlinks; ++i)
        {
            const auto nameAt = [&](char* name, std::size_t size)
            {
                return checkHdf5(H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i,
                    name, size, H5P_DEFAULT), placeOf(path));
            };
            std::string name(nameAt(nullptr, 0), '\0');
            nameAt(name.data(), name.size() + 1);

            const std::string child = below(path, name);
            const Hdf5Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose,
                placeOf(child));
            visit(object, child, depth + 1);
        }
    }

    static herr_t collectName(hid_t, const char* name, const H5A_info_t*, void* names)
    {
        static_cast<std::vector<std::string>*>(names)->push_back(name);
        return 0;
    }

    void visitAttributes(hid_t object, const std::string& path)
    {
        std::vector<std::string> names;
        checkHdf5(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collectName, &names),
            placeOf(path));
        for (const std::string& name : names)
        {
            const std::string entry = below(path, name);
            const Hdf5Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose,
                placeOf(entry));
            put(entry, {attribute, true, placeOf(entry)});
        }
    }

    void put(const std::string& name, const Source& source)
    {
        const Hdf5Handle type = source.type();
        const bool isText = H5Tget_class(type) == H5T_STRING;

        if (isText ? tree_.texts().count(name) : tree_.arrays().count(name))
        {
            throw Error(source.place + " is there twice, as a dataset and as an attribute");
        }
        if (isText)
        {
            tree_.putText(name, readStrings(source, type));
        }
        else
        {
            tree_.putArray(name, readNumbers(source, type));
        }
    }

    std::string what_;
    StateTree tree_;
};

}


StateTree readHdf5(const std::string& path)
{
    const Hdf5Silence silence;
    const std::string what = "cannot read '" + path + "'";

    const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, fileAccess()), H5Fclose, what);
    const Hdf5Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, what);
    Reader reader(what);
    reader.visit(root, "", 0);
    return reader.take();
}

}
