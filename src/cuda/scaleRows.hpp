// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/RowScaling.hpp"

namespace inSitu
{
namespace device
{

//- Put into the present stream what DeviceLibrary::scaleRows() promises
void scaleRows(const RowScaling& rows);

}
}
