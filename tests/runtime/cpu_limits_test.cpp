#include <roost/runtime/cpu_limits.hpp>

#include <roost/base/atomic.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <sched.h>
#include <stdlib.h>

namespace {

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;
namespace fs = std::filesystem;

// A file system of our own, as the kernel would show it.
class fake_root {
public:
    fake_root() {
        std::string name = (fs::path(::testing::TempDir()) / "cpu_limits_XXXXXX").string();
        EXPECT_NE(mkdtemp(name.data()), nullptr);
        path_ = name;
    }
    ~fake_root() { fs::remove_all(path_); }
    void write(const std::string& name, const std::string& text) const {
        const fs::path file = path_ / name;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    fs::path path_;
};

constexpr const char* v2_mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
constexpr const char* v1_mount =
    "33 25 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "34 25 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n";

TEST(cpu_limits, RUN_60_second_version_takes_the_smallest_quota_up_to_the_root) {
    fake_root root;
    root.write("proc/self/mountinfo", v2_mount);
    root.write("proc/self/cgroup", "0::/outer/inner\n");
    EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
    root.write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
    EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
    root.write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
    EXPECT_EQ(cpu_quota(root.path()), 1.5);
    root.write("sys/fs/cgroup/outer/inner/cpu.max", "400000 100000\n");
    EXPECT_EQ(cpu_quota(root.path()), 1.5);
    root.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
    EXPECT_EQ(cpu_quota(root.path()), 0.5);
}

TEST(cpu_limits, RUN_60_first_version) {
    fake_root root;
    root.write("proc/self/mountinfo", v1_mount);
    root.write("proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/pod/box\n0::/\n");
    root.write("sys/fs/cgroup/cpu,cpuacct/pod/box/cpu.cfs_quota_us", "-1\n");
    root.write("sys/fs/cgroup/cpu,cpuacct/pod/box/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
    root.write("sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us", "250000\n");
    root.write("sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(cpu_quota(root.path()), 2.5);
}

TEST(cpu_limits, RUN_60_nonsense_is_no_quota) {
    fake_root root;
    EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
    std::string mounts = "garbage\n";
    mounts += v2_mount;
    root.write("proc/self/mountinfo", mounts);
    root.write("proc/self/cgroup", "garbage\n0::\n");
    root.write("sys/fs/cgroup/cpu.max", "\n");
    EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
    root.write("sys/fs/cgroup/cpu.max", "100 0\n");
    EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
}

TEST(cpu_limits, RUN_62_a_quota_limits_the_processors) {
    fake_root root;
    const unsigned without = usable_cpus(root.path());
    EXPECT_GE(without, 1U);
    root.write("proc/self/mountinfo", v2_mount);
    root.write("proc/self/cgroup", "0::/\n");
    root.write("sys/fs/cgroup/cpu.max", "10000 100000\n");
    EXPECT_EQ(usable_cpus(root.path()), 1U) << "at least one";
    root.write("sys/fs/cgroup/cpu.max", "100001 100000\n");
    EXPECT_EQ(usable_cpus(root.path()), std::min(without, 2U)) << "rounded up";
    root.write("sys/fs/cgroup/cpu.max", "100000000 100000\n");
    EXPECT_EQ(usable_cpus(root.path()), without);
}

TEST(cpu_limits, RUN_61_affinity_limits_the_processors) {
    const unsigned before = usable_cpus();
    EXPECT_GE(before, 1U);
    unsigned inside = 0;
    thread pinned([&] {
        cpu_set_t all;
        ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
        cpu_set_t one;
        CPU_ZERO(&one);
        for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &all)) {
                CPU_SET(cpu, &one);
                break;
            }
        }
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        inside = usable_cpus();
    });
    pinned.join();
    EXPECT_EQ(inside, 1U);
}

}  // namespace
