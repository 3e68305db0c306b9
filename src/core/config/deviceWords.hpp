// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace inSitu
{

//- Why a device entry has no meaning: auto, cpu, cuda and cuda:N have; empty: it has
std::string complaintAboutDevice(const std::string& entry);

}
