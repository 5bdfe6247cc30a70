#pragma once

// co_await as_outcome(x): returns how x ended, as a value: a result, an error, or cancelled with its reason.
//
//   auto got = co_await as_outcome(fetch(url));
//   if (got.has_error()) { ... }
//
// x is a task or anything else that can be awaited. An error is returned as data; others() returns the further failures. A
// cancellation of x alone is data too: of a deferred that was cancelled, of a scope that cancelled itself. The awaiting
// job's own cancellation is not caught: the code after the await does not run.

#include <roost/base/failure_sink.hpp>
#include <roost/base/outcome.hpp>
#include <roost/task/as_task.hpp>
#include <roost/task/detail/frame/outcome_await.hpp>
#include <roost/task/job.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
[[nodiscard]] detail::outcome_call<T> as_outcome(task<T> t) noexcept {
    return detail::outcome_call<T>(std::move(t));
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto as_outcome(A&& a) {
    return as_outcome(roost::as_task(std::forward<A>(a)));
}

}  // namespace roost::inline ROOST_ABI
