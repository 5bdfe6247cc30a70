#pragma once

// Mistakes in waiting for a job.

#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/job/job_core.hpp>
#include <roost/task/detail/job/region.hpp>

namespace roost::inline ROOST_ABI::detail {

// Throws error(would_deadlock) if the frame runs inside `target`, or if `target` waits for the frame's job. That wait is a
// join() or an awaited deferred, directly or through other jobs that wait so. Two jobs that begin to wait for each other at
// the same moment are not found.
void refuse_join_from_inside(const promise_base& frame, const job_core& target);
inline void refuse_own_join(const promise_base& frame, const job_core& target) {
    if (target.parent() != &frame.region()) {  // a child of the frame's own scope cannot contain the frame
        refuse_join_from_inside(frame, target);
    }
}

// In checked builds: reports the join() of an empty job.
[[gnu::cold]] void joined_nothing() noexcept;

}  // namespace roost::inline ROOST_ABI::detail
