#pragma once

// How frames are destroyed, other than by reaching their end.
//
// A destructor that throws while its frame is destroyed does what the language makes of it: the exception goes to the frame's
// own handlers, then to its promise, and the frame comes to its end, or to its next await, as if it ran. So the code that
// destroys it has to keep it from passing control on, and to destroy it again there. What was thrown is cleanup that failed: it is
// kept beside the outcome of the job, or goes to the failure sink where there is no job.

#include <roost/task/detail/promise.hpp>

namespace roost::inline ROOST_ABI::detail {

// Stands in a link while its frame is destroyed: the end of the frame is left in runner::ended.
extern const link_ops burial_ops;

// Destroys a frame at its end.
void bury_ended(promise_base& frame) noexcept;
// Destroys a frame of `job` where it is suspended. Returns ending::cancelled; or ending::returned if a handler of the frame
// caught what a destructor threw, and the frame then returned. Its value is in the link, as usual.
[[nodiscard]] ending bury_cancelled(promise_base& frame) noexcept;
// Destroys a generator's frame where it is suspended, in whatever job, or in none.
void drop_suspended(promise_base& frame) noexcept;
// Destroys a frame that was never started. Its arguments may hold others, which hold others: uses constant stack.
void drop_unstarted(promise_base& frame) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
