#pragma once

// Runs a task for code that is no job. That is a pool with a task as create, destroy or check, or a coroutine of another
// type.
//
//   co_await awaitable_on(load(key), executor);      in any coroutine: returns the value, or throws the error
//
// The task becomes a job of its own on that executor. It runs to its end even if the waiting coroutine is destroyed. A task
// that ends cancelled throws task_cancelled. Further failures go to the failure sink. Not movable: await it where it is made.

#include <roost/task/block_on.hpp>
#include <roost/task/detail/job/driven_task.hpp>

#include <source_location>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
[[nodiscard]] detail::driven_task<T> awaitable_on(task<T> t, executor_ref where,
                                                  std::source_location from = std::source_location::current()) {
    return detail::driven_task<T>(std::move(t), where, from);
}

}  // namespace roost::inline ROOST_ABI
