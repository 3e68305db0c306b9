// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Error.hpp"
#include "io/Hdf5File.hpp"
#include "io/Hdf5Handle.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace inSitu
{
namespace
{

struct TypePair
{
    hid_t file;
    hid_t memory;
};


TypePair typesOf(StateTree::Type type)
{
    switch (type)
    {
        case StateTree::Type::float32: return {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT};
        case StateTree::Type::float64: return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
        case StateTree::Type::int32: return {H5T_STD_I32LE, H5T_NATIVE_INT32};
        case StateTree::Type::int64: return {H5T_STD_I64LE, H5T_NATIVE_INT64};
        case StateTree::Type::uint8: break;
    }
    return {H5T_STD_U8LE, H5T_NATIVE_UINT8};
}


//- The bytes of a file without entries
std::vector<char> emptyFile(const std::string& what)
{
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, what);
    checkHdf5(H5Pset_fapl_core(access, 4096, false), what);
    const Hdf5Handle file(H5Fcreate("empty", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, what);
    checkHdf5(H5Fflush(file, H5F_SCOPE_LOCAL), what);

    std::vector<char> bytes(checkHdf5(H5Fget_file_image(file, nullptr, 0), what));
    checkHdf5(H5Fget_file_image(file, bytes.data(), bytes.size()), what);
    return bytes;
}


//- An empty HDF5 file that owns size bytes of the disk, so that filling it cannot fail for
//  want of space: HDF5 cannot close a file that it cannot complete, and its blocks would
//  stay taken until the process ends.
void reserveFile(const std::string& path, std::size_t size, const std::string& what)
{
    const std::vector<char> empty = emptyFile(what);

    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
    {
        throw Error(what + ": " + std::strerror(errno));
    }
    int fault = posix_fallocate(file, 0, static_cast<off_t>(size));
    if (fault == 0
        && write(file, empty.data(), empty.size()) != static_cast<ssize_t>(empty.size()))
    {
        fault = errno;
    }
    close(file);
    if (fault != 0)
    {
        throw Error(what + ": " + std::strerror(fault));
    }
}


Hdf5Handle linkCreation()
{
    Hdf5Handle properties(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "HDF5 link properties");
    H5Pset_create_intermediate_group(properties, 1);
    return properties;
}


void writeArray(hid_t file, const std::string& name, const StateTree::Array& array,
    const std::string& place)
{
    const std::vector<hsize_t> extents(array.shape.begin(), array.shape.end());
    const Hdf5Handle space
    (
        extents.empty() ? H5Screate(H5S_SCALAR)
            : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
        H5Sclose, place
    );

    const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, place);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    H5Pset_obj_track_times(creation, false);

    const TypePair types = typesOf(array.type);
    const Hdf5Handle dataset
    (
        H5Dcreate2(file, name.c_str(), types.file, space, linkCreation(), creation, H5P_DEFAULT),
        H5Dclose, place
    );
    if (array.count() > 0)
    {
        checkHdf5(H5Dwrite(dataset, types.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.data.get()),
            place);
    }
}


//- The group or dataset at a path; groups that are missing are made
Hdf5Handle objectAt(hid_t file, const std::string& path, const std::string& place)
{
    for (std::size_t end = path.find('/'); !path.empty(); end = path.find('/', end + 1))
    {
        const std::string part = path.substr(0, end);
        if (checkHdf5(H5Lexists(file, part.c_str(), H5P_DEFAULT), place) == 0)
        {
            return Hdf5Handle(H5Gcreate2(file, path.c_str(), linkCreation(), H5P_DEFAULT,
                H5P_DEFAULT), H5Gclose, place);
        }
        if (end == std::string::npos)
        {
            break;
        }
    }
    return Hdf5Handle(H5Oopen(file, path.empty() ? "/" : path.c_str(), H5P_DEFAULT), H5Oclose,
        place);
}


// Of variable length: an attribute of fixed length ends at 64 KiB
void writeText(hid_t file, const std::string& name, const std::string& text,
    const std::string& place)
{
    if (text.find('\0') != std::string::npos)
    {
        throw Error(place + ": a text with a zero byte cannot be stored");
    }

    const std::size_t slash = name.rfind('/');
    const bool atRoot = slash == std::string::npos;
    const Hdf5Handle object = objectAt(file, atRoot ? "" : name.substr(0, slash), place);

    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, place);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);

    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose, place);
    const Hdf5Handle attribute
    (
        H5Acreate2(object, name.substr(atRoot ? 0 : slash + 1).c_str(), type, space,
            H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose, place
    );
    const char* const data = text.c_str();
    checkHdf5(H5Awrite(attribute, type, &data), place);
}

}


std::size_t hdf5Bytes(const StateTree& tree)
{
    constexpr std::size_t perEntry = 4096;
    constexpr std::size_t perFile = 65536;
    return tree.bytes() + perEntry*(tree.arrays().size() + tree.texts().size()) + perFile;
}


void writeHdf5(const std::string& path, const StateTree& tree)
{
    const Hdf5Silence silence;
    const std::string what = "cannot write '" + path + "'";

    reserveFile(path, hdf5Bytes(tree), what);
    Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, fileAccess()), H5Fclose, what);
    for (const auto& [name, array] : tree.arrays())
    {
        writeArray(file, name, array, what + ", entry '" + name + '\'');
    }
    for (const auto& [name, text] : tree.texts())
    {
        writeText(file, name, text, what + ", entry '" + name + '\'');
    }
    file.close(what);
}

}
