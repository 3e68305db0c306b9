// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace inSitu
{

//- Keeps HDF5 from printing its error stack as long as it lives, and other threads from calling
//  it: as it is commonly built it bears one at a time
class Hdf5Silence
{
public:

    Hdf5Silence();
    ~Hdf5Silence();

    Hdf5Silence(const Hdf5Silence&) = delete;
    Hdf5Silence& operator=(const Hdf5Silence&) = delete;

private:

    std::unique_lock<std::mutex> lock_;
    H5E_auto2_t print_ = nullptr;
    void* data_ = nullptr;
};


//- Throws Error: "<what>: <innermost message of HDF5's error stack>"
[[noreturn]] void failHdf5(const std::string& what);

//- Passes the result of an HDF5 call on; throws as failHdf5 if it is negative
template<class Result>
Result checkHdf5(Result result, const std::string& what)
{
    if (result < 0)
    {
        failHdf5(what);
    }
    return result;
}


//- Owns an HDF5 identifier
class Hdf5Handle
{
public:

    using Close = herr_t (*)(hid_t);

    //- Throws as failHdf5 if id is the result of a call that failed
    Hdf5Handle(hid_t id, Close close, const std::string& what)
    :
        id_(checkHdf5(id, what)),
        close_(close)
    {}

    Hdf5Handle(Hdf5Handle&& other) noexcept
    :
        id_(std::exchange(other.id_, -1)),
        close_(other.close_)
    {}

    Hdf5Handle(const Hdf5Handle&) = delete;
    Hdf5Handle& operator=(const Hdf5Handle&) = delete;

    ~Hdf5Handle()
    {
        if (id_ >= 0)
        {
            close_(id_);
        }
    }

    operator hid_t() const { return id_; }

    //- Close now; throws as failHdf5, since closing is when a file is completed
    void close(const std::string& what)
    {
        checkHdf5(close_(std::exchange(id_, -1)), what);
    }

private:

    hid_t id_;
    Close close_;
};

//- Properties for opening a file: no lock, which some parallel file systems refuse
Hdf5Handle fileAccess();

}
