#pragma once

// Destroying frames that did not reach their end.
//
// If a destructor throws while its frame is destroyed, the language passes the exception to the frame's own handlers, then to
// its promise. The frame comes to its end, or to its next await, as if it ran. So the code that destroys it has to keep it
// from passing control on, and has to destroy it again there. The exception is failed cleanup: it is kept beside the outcome
// of the job, or goes to the failure sink if there is no job.

#include <roost/task/detail/promise.hpp>

namespace roost::inline ROOST_ABI::detail {

// Installed in a link while its frame is destroyed: the end of the frame is left in runner::ended.
extern const link_ops burial_ops;

// Destroys a frame at its end.
void bury_ended(promise_base& frame) noexcept;
// Destroys a frame of `job` where it is suspended. Returns ending::cancelled; or ending::returned if a handler of the frame
// caught an exception of a destructor, and the frame then returned. Its value is in the link, as usual.
[[nodiscard]] ending bury_cancelled(promise_base& frame) noexcept;
// Destroys a generator's frame where it is suspended, in any job or outside of jobs.
void drop_suspended(promise_base& frame) noexcept;
// Destroys a frame that was never started. Its arguments may hold other such frames, to any depth: uses constant stack.
void drop_unstarted(promise_base& frame) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
