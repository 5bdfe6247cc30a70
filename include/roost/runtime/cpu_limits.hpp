#pragma once

#include <roost/base/config.hpp>

#include <optional>
#include <string>

namespace roost::inline ROOST_ABI {

// How many threads can run at once: the processors this process may use (affinity, cpuset), cut by the CPU quota of its
// control groups (cgroup v2 cpu.max and v1 cpu.cfs_quota_us, ancestors included), rounded up; at least 1. The groups are read
// below `root` (for tests; "" is the real one).
[[nodiscard]] unsigned usable_cpus(const std::string& root = "") noexcept;

// The quota alone, in processors. Empty when there is none.
[[nodiscard]] std::optional<double> cpu_quota(const std::string& root = "");

}  // namespace roost::inline ROOST_ABI
