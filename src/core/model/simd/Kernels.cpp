// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/simd/Kernels.hpp"

#include "base/Error.hpp"

#include <cstdlib>
#include <string>

namespace inSitu
{

namespace baseline
{
extern const Kernels<float> kernelsFloat;
extern const Kernels<double> kernelsDouble;
}

#ifdef INSITU_SIMD_X86
namespace avx2
{
extern const Kernels<float> kernelsFloat;
extern const Kernels<double> kernelsDouble;
}

namespace avx512
{
extern const Kernels<float> kernelsFloat;
extern const Kernels<double> kernelsDouble;
}
#endif


namespace
{

struct Level
{
    const char* name;
    bool available;
    const Kernels<float>* single;
    const Kernels<double>* twice;
};

const Kernels<float>& of(const Level& level, float) { return *level.single; }
const Kernels<double>& of(const Level& level, double) { return *level.twice; }


Level chooseLevel()
{
    const Level levels[] =
    {
#ifdef INSITU_SIMD_X86
        {
            "avx512",
            __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
         && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"),
            &avx512::kernelsFloat, &avx512::kernelsDouble
        },
        {
            "avx2",
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
            &avx2::kernelsFloat, &avx2::kernelsDouble
        },
#endif
        {"baseline", true, &baseline::kernelsFloat, &baseline::kernelsDouble}
    };

    const char* wanted = std::getenv("INSITU_SIMD");
    std::string available;
    for (const Level& level : levels)
    {
        if (level.available && (!wanted || std::string(wanted) == level.name))
        {
            return level;
        }
        available += level.available ? std::string(" ") + level.name : "";
    }
    throw Error("environment variable INSITU_SIMD is '" + std::string(wanted)
        + "', but this machine and build offer:" + available);
}

}


template<class T>
const Kernels<T>& kernels()
{
    return of(chooseLevel(), T());
}

template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();

}
