#pragma once

// co_await on(executor, t): runs t on another executor, as a child job, and returns its result.
//
// The awaiting body resumes on its own executor. A cancel is passed on to the child, and the child is still awaited. The
// return is no checkpoint: it delivers the child's value or error even if the job was cancelled meanwhile.

#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/job/on_await.hpp>

#include <source_location>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
[[nodiscard]] detail::on_call<T> on(executor_ref where, task<T> t,
                                    std::source_location from = std::source_location::current()) noexcept {
    return detail::on_call<T>(where, std::move(t), from);
}

template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto on(executor_ref where, A&& a, std::source_location from = std::source_location::current()) {
    return on(where, roost::as_task(std::forward<A>(a)), from);
}

}  // namespace roost::inline ROOST_ABI
