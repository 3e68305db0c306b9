// SPDX-License-Identifier: GPL-3.0-or-later

#include "base/cpuQuota.hpp"

#include "TemporaryFolder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace inSitu
{
namespace
{

//- Files of a machine, written by hand
struct CpuQuota : testing::Test
{
    TemporaryFolder machine;

    void write(const std::string& file, const std::string& text)
    {
        const std::filesystem::path path(machine / file.substr(1));
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    void mountUnified(const std::string& group)
    {
        write("/proc/self/mountinfo",
            "22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
            "31 22 0:27 " + group + " /sys/fs/cgroup rw,nosuid shared:9 master:3 - cgroup2 cgroup2"
            " rw,nsdelegate\n");
    }

    void mountOld(const std::string& group)
    {
        write("/proc/self/mountinfo",
            "35 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
            "36 31 0:31 " + group + " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup"
            " rw,cpu,cpuacct\n");
    }

    std::optional<double> quota() const { return cpuQuota(machine / ""); }
};


TEST_F(CpuQuota, NothingIsSaidWithoutFiles)
{
    EXPECT_FALSE(quota());
}


TEST_F(CpuQuota, OfAContainerVersion2)
{
    mountUnified("/");
    write("/proc/self/cgroup", "0::/\n");
    write("/sys/fs/cgroup/cpu.max", "250000 100000\n");

    EXPECT_EQ(quota(), 2.5);
}


TEST_F(CpuQuota, TheWordMaxIsNoLimit)
{
    mountUnified("/");
    write("/proc/self/cgroup", "0::/user.slice\n");
    write("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");

    EXPECT_FALSE(quota());
}


TEST_F(CpuQuota, TheTightestOfTheGroupsAroundCounts)
{
    mountUnified("/");
    write("/proc/self/cgroup", "0::/batch/job_7/step_3\n");
    write("/sys/fs/cgroup/batch/job_7/step_3/cpu.max", "max 100000\n");
    write("/sys/fs/cgroup/batch/job_7/cpu.max", "300000 200000\n");
    write("/sys/fs/cgroup/batch/cpu.max", "800000 100000\n");
    EXPECT_EQ(quota(), 1.5);

    write("/sys/fs/cgroup/batch/job_7/step_3/cpu.max", "25000 50000\n");
    EXPECT_EQ(quota(), 0.5);
}


TEST_F(CpuQuota, OfVersion1)
{
    mountOld("/");
    write("/proc/self/cgroup", "5:cpuset:/other\n4:cpu,cpuacct:/job\n1:name=systemd:/\n0::/\n");
    write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "350000\n");
    write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quota(), 3.5);

    write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    EXPECT_FALSE(quota());
}


TEST_F(CpuQuota, AContainerSeesItsGroupAtTheMountPoint)
{
    // The group is named as the machine knows it, the mount shows what lies below it
    mountOld("/docker/4f2a");
    write("/proc/self/cgroup", "4:cpu,cpuacct:/docker/4f2a/inner\n");
    write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "700000\n");
    write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "200000\n");
    EXPECT_EQ(quota(), 3.5);

    write("/sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_quota_us", "90000\n");
    write("/sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_period_us", "60000\n");
    EXPECT_EQ(quota(), 1.5);

    // Another container, whose name only begins like it
    write("/proc/self/cgroup", "4:cpu,cpuacct:/docker/4f2ac/inner\n");
    EXPECT_EQ(quota(), 3.5);
}


TEST_F(CpuQuota, BrokenFilesAreNoLimit)
{
    mountUnified("/");
    write("/proc/self/cgroup", "nonsense\n0::/\n");
    write("/sys/fs/cgroup/cpu.max", "lots\n");
    EXPECT_FALSE(quota());

    write("/sys/fs/cgroup/cpu.max", "100000 0\n");
    EXPECT_FALSE(quota());
}

}
}
