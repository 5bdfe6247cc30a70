#pragma once

// Which job waits for what, who holds it, and which jobs wait for each other.
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
// Tracked are locks of mutex and shared_mutex, permits of a semaphore and resources of a pool. A job holds what its own await
// returned, while that handle exists and has not moved. Everything else has an unknown owner. What was taken while tracking was
// off is not known.
//
// A cycle is reported only if all of it existed at one moment. It does not end by itself: a cancel or a deadline has to end it.
// Requires that a job which has not moved a handle gives it back itself.
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

// Switches the tracking of owners on or off. Returns true if it was on before. Off, each lock and each unlock costs one load.
bool set_owner_tracking(bool on) noexcept;

// A job that holds what another one waits for.
struct wait_owner {
    node job;  // refers to nothing if it is not known
    roost::site taken_at;  // the line of the await that took it
    std::uint32_t permits = 0;
    bool has_moved = false;  // the job took it, and another one may hold it now
    std::optional<time_point> since;
};

// A job, and what its body is suspended in.
struct waiting_job {
    node job;
    std::string kind;  // of what it waits for: "mutex", "job", "sleep"
    std::string name;
    roost::site at;  // the line of the await
    const void* target = nullptr;  // address of what it waits for, if that is known; it may be gone
    std::optional<time_point> since;  // known while owners are tracked
    bool is_uninterruptible = false;
    std::vector<wait_owner> owners;  // of a job or a scope: what has to end

    // Returns one line without a line break.
    [[nodiscard]] std::string to_string() const;
};

// Jobs that wait for each other: none of them continues unless one is cancelled.
struct wait_cycle {
    std::vector<waiting_job> jobs;  // each waits for the next one, the last for the first; then others that they need

    // Returns a headline and one line per job.
    [[nodiscard]] std::string to_string() const;
};

// Returns the suspended jobs below `root`, at most `limit`. Each is true by itself. Throws std::bad_alloc.
[[nodiscard]] std::vector<waiting_job> waits(const node& root, std::size_t limit = 10'000);
[[nodiscard]] inline std::vector<waiting_job> waits(const scope& root, std::size_t limit = 10'000) {
    return waits(root.tree_node(), limit);
}

// Returns the cycles among the jobs below `root`. A job that waits for several things at once, in a select or a race, is in none.
// Empty if owners are not tracked. Looks at 100 000 waiting jobs at most. Throws std::bad_alloc.
[[nodiscard]] std::vector<wait_cycle> find_cycles(const node& root);
[[nodiscard]] inline std::vector<wait_cycle> find_cycles(const scope& root) { return find_cycles(root.tree_node()); }

}  // namespace roost::inline ROOST_ABI::observe
