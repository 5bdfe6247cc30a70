#pragma once

// Runs a task on an executor and blocks the calling thread until the task and everything it started have ended. For main()
// and for threads outside the executor. Throws error(would_deadlock) in a job or on a thread of the executor, because the
// task needs that thread.

#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/job/root_job.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/this_task.hpp>

#include <source_location>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
[[nodiscard]] outcome<T> block_on_outcome(executor_ref where, task<T> t, node_name name = "main",
                                          std::source_location from = std::source_location::current()) {
    const auto block = detail::run_to_end<T>(where, std::move(t), name, from);
    return detail::outcome_of_root<T>(*block);
}

// Returns the value, or throws the error with its own type. If the task ended cancelled, throws task_cancelled.
// Further failures go to the failure sink.
template <class T>
T block_on(executor_ref where, task<T> t, node_name name = "main",
           std::source_location from = std::source_location::current()) {
    const auto block = detail::run_to_end<T>(where, std::move(t), name, from);
    return detail::value_of_root<T>(*block);
}

// As above, for anything else that a task can await.
template <class A>
    requires detail::waitable<A>
decltype(auto) block_on(executor_ref where, A&& a, node_name name = "main",
                        std::source_location from = std::source_location::current()) {
    return block_on(where, roost::as_task(std::forward<A>(a)), name, from);
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto block_on_outcome(executor_ref where, A&& a, node_name name = "main",
                                    std::source_location from = std::source_location::current()) {
    return block_on_outcome(where, roost::as_task(std::forward<A>(a)), name, from);
}

}  // namespace roost::inline ROOST_ABI
