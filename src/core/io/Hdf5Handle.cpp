// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/Hdf5Handle.hpp"

#include "base/Error.hpp"

namespace inSitu
{
namespace
{

std::mutex oneThread;


herr_t innermost(unsigned, const H5E_error2_t* entry, void* text)
{
    *static_cast<std::string*>(text) = entry->desc ? entry->desc : "";
    return 1;
}


// "unable to open file: name = 'x', errno = 2, error message = 'No such file or directory', …"
std::string systemMessage(const std::string& description)
{
    const std::string mark = "error message = '";
    const std::size_t begin = description.find(mark);
    if (begin == std::string::npos)
    {
        return description;
    }
    const std::size_t text = begin + mark.size();
    return description.substr(text, description.find('\'', text) - text);
}

}


Hdf5Silence::Hdf5Silence()
:
    lock_(oneThread)
{
    // A file that a faulty disk left incomplete stays open within HDF5, and its attempt to
    // close it when the process ends crashes. All other files are closed by then.
    static const herr_t once = H5dont_atexit();
    static_cast<void>(once);

    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}


Hdf5Silence::~Hdf5Silence()
{
    H5Eset_auto2(H5E_DEFAULT, print_, data_);
}


void failHdf5(const std::string& what)
{
    std::string description;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &description);
    throw Error(what + ": " + systemMessage(description));
}


Hdf5Handle fileAccess()
{
    Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5 file access properties");
#if H5_VERSION_GE(1, 10, 7)
    H5Pset_file_locking(access, false, true);
#endif
    return access;
}

}
