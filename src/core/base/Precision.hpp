// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace inSitu
{

//- Arithmetic of snapshots, model and optimiser
enum class Precision
{
    float32,
    float64
};

inline int bytesOf(Precision precision)
{
    return precision == Precision::float64 ? 8 : 4;
}

}
