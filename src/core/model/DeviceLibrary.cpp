// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/DeviceLibrary.hpp"

#include "base/Error.hpp"

#include <dlfcn.h>

namespace inSitu
{
namespace
{

std::string besideThisLibrary(const std::string& file)
{
    Dl_info info;
    if (!dladdr(reinterpret_cast<const void*>(&besideThisLibrary), &info))
    {
        return file;
    }
    const std::string path(info.dli_fname);
    return path.substr(0, path.rfind('/') + 1) + file;
}


std::shared_ptr<DeviceLibrary> openOnce()
{
    const std::string file = besideThisLibrary("libinSituCuda.so");
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void* symbol = handle ? dlsym(handle, "inSituDeviceLibrary") : nullptr;
    if (!symbol)
    {
        const char* reason = dlerror();
        throw Error("training on a GPU is not possible: "
            + std::string(reason ? reason : file + " is of another version")
            + ".\n    Remedy: run Allwmake where CUDA's compiler is found; the line CUDA of its"
            " summary says what was. Or choose device cpu.");
    }
    return std::shared_ptr<DeviceLibrary>(reinterpret_cast<DeviceLibraryFactory*>(symbol)());
}

}


std::shared_ptr<DeviceLibrary> DeviceLibrary::open()
{
    static const std::shared_ptr<DeviceLibrary> library = openOnce();
    return library;
}

}
