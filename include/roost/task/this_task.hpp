#pragma once

// Awaits about the calling task itself. The first three may suspend to let other work run; the others never suspend.
//
//   co_await yield();                    lets everything that is queued on the executor run first
//   co_await checkpoint();               ends the job here if it is cancelled, as an await of a task or a wait does
//   bool go_on = co_await is_active();   false if the next checkpoint would end the job
//   job me = co_await this_job();        a handle for other code; me.cancel() cancels the calling job
//   token t = co_await this_token();     of the innermost scope, deadline or shield; deadline(), remaining()
//   time_point t = co_await this_time(); by the clock of the task's executor: virtual time in a test

#include <roost/task/detail/frame/this_task_calls.hpp>
#include <roost/task/job.hpp>
#include <roost/task/task.hpp>

namespace roost::inline ROOST_ABI {

[[nodiscard]] inline detail::checkpoint_call checkpoint() noexcept { return {}; }
[[nodiscard]] inline detail::is_active_call is_active() noexcept { return {}; }
[[nodiscard]] inline detail::this_job_call this_job() noexcept { return {}; }
[[nodiscard]] inline detail::this_token_call this_token() noexcept { return {}; }
[[nodiscard]] inline detail::this_time_call this_time() noexcept { return {}; }
[[nodiscard]] inline detail::yield_call yield() noexcept { return {}; }

// Returns the job whose body runs on the calling thread, or an empty job. For code that is no coroutine.
[[nodiscard]] job current_job() noexcept;

}  // namespace roost::inline ROOST_ABI
