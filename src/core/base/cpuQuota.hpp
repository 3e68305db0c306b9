// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

namespace inSitu
{

//- Cores' worth of time that the control groups of this process allow, as containers and batch
//  systems set it, e.g. 1.5; nothing if there is no limit or it cannot be read. The tightest limit
//  counts: that of the process's own group or of one around it that can be seen. Versions 1
//  (cpu.cfs_quota_us) and 2 (cpu.max) of control groups (man 7 cgroups).
//  root: folder that holds proc and the mount points, for tests
std::optional<double> cpuQuota(const std::string& root = "");

}
