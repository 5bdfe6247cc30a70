#pragma once

// Jobs that were cancelled and do not end, and jobs that are ready to run and do not run.
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

// Why a job stalls. The first four: why a cancelled job goes on.
enum class stall_cause : std::uint8_t {
    ignore_guard,  // an ignore guard in its body delays the cancel
    shield,  // its body is in a shield
    uninterruptible,  // what it awaits cannot be abandoned
    running,  // none of these: its body runs, is queued to run, or waits for others
    not_begun,  // it was started, and no thread has run it
    not_resumed,  // it was woken, and no thread has run it since; seen only while owners are tracked (waits.hpp)
};

// A job that was cancelled and has not ended. A plain value.
struct stall {
    node job;
    stall_cause cause = stall_cause::running;
    std::string waits_on;  // what its body is suspended in; empty if it is not suspended
    roost::site at;  // the line of that await, or of the shield
    duration lasted{};  // since the first look that saw it

    // Returns one line without a line break. Throws std::bad_alloc.
    [[nodiscard]] std::string to_string() const;
};

// Remembers which jobs were cancelled, or ready to run, at its last look. Not thread-safe; the program runs on during a look. Without a look it
// does nothing.
class stall_watch {
public:
    explicit stall_watch(duration limit) noexcept : limit_(limit) {}

    // Returns the jobs below `root` that have been cancelled for the limit or longer, and whose own body has not ended. Jobs that
    // only wait for their children are left out: the children are reported. Also returns the jobs that have been ready to run for
    // the limit or longer. Throws std::bad_alloc.
    [[nodiscard]] std::vector<stall> look(const node& root, time_point now = roost::now());
    [[nodiscard]] std::vector<stall> look(const scope& root, time_point now = roost::now()) {
        return look(root.tree_node(), now);
    }

private:
    struct sighting {
        time_point since;
        std::int64_t what = 0;  // the stamp of a wait that has ended; 0: not begun, or cancelled
        bool is_counted = false;  // in roost_stalls_total
    };
    using sightings = std::unordered_map<std::uint64_t, sighting>;  // by the number of the node

    duration limit_;
    sightings seen_;  // cancelled
    sightings ready_;
};

}  // namespace roost::inline ROOST_ABI::observe
