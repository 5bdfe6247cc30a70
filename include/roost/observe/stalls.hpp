#pragma once

// Jobs that were cancelled and have not ended.
//
//   stall_watch watch(5s);
//   every few seconds: for (const stall& s : watch.look(root)) { log(s.to_string()); }
//
//   job 'export' (export.cpp:17) at export.cpp:31 was cancelled 12.4 s ago and has not ended: it awaits a foreign awaitable
//
// A body that keeps its worker for too long is reported by the runtime: runtime_options::on_overrun().

#include <roost/task/owned_scope.hpp>
#include <roost/tree/node.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace roost::inline ROOST_ABI::observe {

// Why a cancelled job has not ended.
enum class stall_cause : std::uint8_t {
    ignore_guard,  // an ignore guard in its body delays the cancel
    shield,  // its body is in a shield
    uninterruptible,  // its await cannot be abandoned
    running,  // none of these: its body runs, is queued to run, or waits for other jobs
};

// A job that was cancelled and has not ended. A plain value.
struct stall {
    node job;
    stall_cause cause = stall_cause::running;
    std::string waits_on;  // what its body is suspended in; empty if it is not suspended
    roost::site at;  // the line of that await, or of the shield
    duration lasted{};  // since the first look that saw the cancel; the cancel itself may be older

    // Returns one line without a line break. Throws std::bad_alloc.
    [[nodiscard]] std::string to_string() const;
};

// Remembers which jobs were cancelled at its last look. Only look() does anything: no thread and no timer belongs to it. Not
// thread-safe; the program runs on during a look.
class stall_watch {
public:
    explicit stall_watch(duration limit) noexcept : limit_(limit) {}

    // Returns the jobs below `root` that this watch has seen cancelled for the limit or longer, and whose body has not
    // ended. The longest is first. A job that only waits for jobs below it is left out: those are reported. The first report
    // of a job counts in roost_stalls_total. Throws std::bad_alloc.
    [[nodiscard]] std::vector<stall> look(const node& root, time_point now = roost::now());
    [[nodiscard]] std::vector<stall> look(const scope& root, time_point now = roost::now()) {
        return look(root.tree_node(), now);
    }

private:
    struct sighting {
        time_point since;
        bool is_counted = false;  // in roost_stalls_total
    };

    duration limit_;
    std::unordered_map<std::uint64_t, sighting> seen_;  // by the number of the node
};

}  // namespace roost::inline ROOST_ABI::observe
