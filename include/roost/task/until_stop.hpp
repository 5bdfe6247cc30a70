#pragma once

// co_await until_stop(token, t): runs t until it ends or the token's node is asked to stop.
//
//   auto row = co_await until_stop(server.observe(), load(id));
//
// Returns a std::optional with the result of t. A stop cancels the task and waits for its end; the optional is then empty.
// If the stop is visible before the task begins, the task does not begin. A value or an error that already exists wins over
// a stop. For a task<void> the optional holds std::monostate, for a reference a std::reference_wrapper. If the outer job is
// cancelled too, that wins over a stop: the awaiting body ends cancelled. `shutdown::interrupt(t)` does the same for a
// shutdown node. Anything else that only a task can await (sleeps, joins, selects) is accepted too, and costs a frame.

#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/frame/until_stop_await.hpp>
#include <roost/tree/token.hpp>

#include <optional>
#include <source_location>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
[[nodiscard]] detail::until_stop_call<T> until_stop(token watched, task<T> t,
                                                    std::source_location where = std::source_location::current()) noexcept {
    return detail::until_stop_call<T>(std::move(watched), std::move(t), where);
}

template <class A>
    requires detail::awaits_in_task<A&&>
[[nodiscard]] auto until_stop(token watched, A what, std::source_location where = std::source_location::current()) {
    return until_stop(std::move(watched), as_task(std::move(what)), where);
}

}  // namespace roost::inline ROOST_ABI
