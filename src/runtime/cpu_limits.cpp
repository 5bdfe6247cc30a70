#include <roost/runtime/cpu_limits.hpp>

#include <roost/base/atomic.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

namespace {

std::optional<std::string> first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) {
        return std::nullopt;
    }
    return line;
}

std::optional<double> positive_ratio(const std::string& quota, const std::string& period) {
    char* end = nullptr;
    const double q = std::strtod(quota.c_str(), &end);
    if (end == quota.c_str()) {
        return std::nullopt;  // "max"
    }
    const double p = std::strtod(period.c_str(), nullptr);
    if (!(q > 0) || !(p > 0)) {
        return std::nullopt;  // v1 has -1 for none
    }
    return q / p;
}

std::optional<double> quota_in(const std::string& folder, bool second_version) {
    if (second_version) {
        const auto line = first_line(folder + "/cpu.max");
        std::istringstream words(line.value_or(""));
        std::string quota;
        std::string period;
        words >> quota >> period;
        return positive_ratio(quota, period);
    }
    return positive_ratio(first_line(folder + "/cpu.cfs_quota_us").value_or(""),
                          first_line(folder + "/cpu.cfs_period_us").value_or(""));
}

// Returns the smallest quota of a group and its ancestors. Inside a container the path may name a group that is not
// visible: then the walk ends at the mount point, which is the container's own group.
void narrow(std::optional<double>& least, const std::string& mount, std::string group, bool second_version) {
    for (;;) {
        if (const auto found = quota_in(mount + group, second_version)) {
            least = std::min(least.value_or(*found), *found);
        }
        if (group.empty() || group == "/") {
            return;
        }
        group.erase(group.find_last_of('/'));
    }
}

bool has_word(const std::string& list, const std::string& word) {
    std::istringstream words(list);
    std::string each;
    while (std::getline(words, each, ',')) {
        if (each == word) {
            return true;
        }
    }
    return false;
}

struct mounts {
    std::string second_version;
    std::string first_version_cpu;
};

mounts find_mounts(const std::string& root) {
    mounts found;
    std::ifstream file(root + "/proc/self/mountinfo");
    std::string line;
    while (std::getline(file, line)) {
        const std::size_t dash = line.find(" - ");
        if (dash == std::string::npos) {
            continue;
        }
        std::istringstream head(line.substr(0, dash));
        std::istringstream tail(line.substr(dash + 3));
        std::string skip;
        std::string point;
        std::string type;
        std::string options;
        head >> skip >> skip >> skip >> skip >> point;
        tail >> type >> skip >> options;
        if (type == "cgroup2") {
            found.second_version = root + point;
        } else if (type == "cgroup" && has_word(options, "cpu")) {
            found.first_version_cpu = root + point;
        }
    }
    return found;
}

}  // namespace

std::optional<double> ext::cpu_quota(const std::string& root) {
    const mounts where = find_mounts(root);
    std::optional<double> least;
    std::ifstream file(root + "/proc/self/cgroup");
    std::string line;
    while (std::getline(file, line)) {
        // "hierarchy:controllers:path"; hierarchy 0 without controllers is version 2.
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string group = line.substr(second + 1);
        if (controllers.empty() && !where.second_version.empty()) {
            narrow(least, where.second_version, group, true);
        } else if (has_word(controllers, "cpu") && !where.first_version_cpu.empty()) {
            narrow(least, where.first_version_cpu, group, false);
        }
    }
    return least;
}

unsigned ext::usable_cpus(const std::string& root) noexcept {
    unsigned count = std::max(1U, hardware_threads());
    try {
        if (const auto quota = cpu_quota(root)) {
            count = std::min(count, static_cast<unsigned>(std::max(1.0, std::ceil(*quota))));
        }
    } catch (const std::exception&) {
        return count;  // no memory to read the quota: affinity alone
    }
    return count;
}

}  // namespace roost::inline ROOST_ABI
