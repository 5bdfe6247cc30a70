#pragma once

// Which job waits for what, which job owns that, and which jobs wait for each other.
//
//   set_owner_tracking(true);                          usually at the start of the program
//   for (const wait_cycle& c : find_cycles(root)) {
//       std::fputs(c.to_string().c_str(), stderr);
//   }
//
//   deadlock of 2 jobs:
//     job 'transfer' (bank.cpp:42) at bank.cpp:17 waits on mutex 'accounts' (held 3 s by job 'audit' (bank.cpp:43) at bank.cpp:29)
//     job 'audit' (bank.cpp:43) at bank.cpp:31 waits on mutex 'ledger' (held 3 s by job 'transfer' (bank.cpp:42) at bank.cpp:15)
//
// Tracked are locks of mutex and shared_mutex, permits of a semaphore and resources of a pool. A job owns what its own await
// returned, while that handle exists and has not moved. Everything else has an unknown owner: what try_lock() or a thread
// took, and what was taken while tracking was off.
//
// A cycle is reported only if all its waits and all its locks were there at one moment. It lasts until a cancel, a deadline or
// added permits end it. Requires that a handle that has not moved is given back by the job that took it.
//
// All functions are thread-safe, and the program runs on meanwhile.

#include <roost/task/owned_scope.hpp>
#include <roost/tree/node.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace roost::inline ROOST_ABI::observe {

// Switches owner tracking on or off. Returns true if it was on before. Switching it off forgets all owners. While it is off,
// each lock and each unlock costs one load. Thread-safe.
bool set_owner_tracking(bool on) noexcept;

// A job that owns what another job waits for.
struct wait_owner {
    node job;  // empty if the owner is unknown
    roost::site taken_at;  // the line of the await that took it
    std::uint32_t permits = 0;
    bool has_moved = false;  // true: the job took it, but the handle has moved; another job may own it now
    std::optional<time_point> since;  // when it was taken
};

// A job, and what its body is suspended in.
struct waiting_job {
    node job;
    std::string kind;  // of what it waits for: "mutex", "job", "sleep"
    std::string name;
    roost::site at;  // the line of the await
    const void* target = nullptr;  // address of what it waits for, null if unknown; do not follow it
    std::optional<time_point> since;  // when the wait began; known while owners are tracked
    bool is_uninterruptible = false;
    std::vector<wait_owner> owners;  // for a wait for a job or a scope: the jobs that have to end

    // Returns one line without a line break. Throws std::bad_alloc.
    [[nodiscard]] std::string to_string() const;
};

// A deadlock: jobs that wait for each other. None of them continues until a cancel, a deadline or added permits end the cycle.
struct wait_cycle {
    // Each job waits for the next one, the last for the first. Further jobs of the same deadlock follow.
    std::vector<waiting_job> jobs;

    // Returns a headline and one line per job. Throws std::bad_alloc.
    [[nodiscard]] std::string to_string() const;
};

// Returns the suspended jobs below `root`, at most `limit`. Each entry was true at a moment of the call, but not all at the
// same moment. Owners are empty while they are not tracked, except for joins. Thread-safe. Throws std::bad_alloc.
[[nodiscard]] std::vector<waiting_job> waits(const node& root, std::size_t limit = 10'000);
[[nodiscard]] inline std::vector<waiting_job> waits(const scope& root, std::size_t limit = 10'000) {
    return waits(root.tree_node(), limit);
}

// Returns the cycles among the jobs below `root`. A job that waits for several things at once, in a select or a race, is in no
// cycle. Returns nothing while owners are not tracked. Considers at most 100 000 waits. Thread-safe. Throws std::bad_alloc.
[[nodiscard]] std::vector<wait_cycle> find_cycles(const node& root);
[[nodiscard]] inline std::vector<wait_cycle> find_cycles(const scope& root) { return find_cycles(root.tree_node()); }

}  // namespace roost::inline ROOST_ABI::observe
