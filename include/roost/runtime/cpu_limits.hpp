#pragma once

#include <roost/base/config.hpp>

#include <optional>
#include <string>

namespace roost::inline ROOST_ABI::ext {

// Returns how many threads can run at once, at least 1. That is the number of processors this process may use (affinity,
// cpuset). The CPU quota of its control groups, rounded up, limits it. The quota is read from cgroup v2 cpu.max and v1
// cpu.cfs_quota_us, ancestors included. Tests pass a directory as `root`; "" is the real one.
[[nodiscard]] unsigned usable_cpus(const std::string& root = "") noexcept;

// Returns the quota in processors, or an empty optional if there is none.
[[nodiscard]] std::optional<double> cpu_quota(const std::string& root = "");

}  // namespace roost::inline ROOST_ABI::ext
