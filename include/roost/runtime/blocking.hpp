#pragma once

// co_await blocking(fn, args...): runs fn(args...) on a thread of the blocking lane and resumes with its result.
//
//   std::string text = co_await blocking(read_whole_file, path);
//   auto rows = co_await blocking(interrupted_by(stop_query), run_query, &database);
//
// Any coroutine type can await it. A Roost task uses the lane of its executor; without a lane the program ends. A coroutine
// type whose promise has no executor names a lane: blocking_on(rt.blocking(), fn, args...). It resumes on that lane's
// thread.
//
// Cancelled: a function that has not started is withdrawn and never runs. A running function is never abandoned by a cancel.
// The cancelling thread calls the interrupter once, and only while fn runs. The await then completes with the result of fn,
// and the task's next checkpoint ends it.
//
// Throws what fn throws. Throws std::system_error(errc::closed) if the lane is closed or cannot start a thread.

#include <roost/exec/blocking.hpp>
#include <roost/runtime/blocking_lane.hpp>
#include <roost/runtime/detail/blocking_await.hpp>
#include <roost/task/detail/closure_check.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

// Wraps the function that makes a blocked call return early: it closes the socket, calls sqlite3_interrupt, and so on.
template <class Hook>
class interrupted_by {
public:
    static_assert(std::is_nothrow_invocable_v<Hook&>, "an interrupter runs inside cancel(), so it has to be noexcept");
    explicit interrupted_by(Hook hook) noexcept(std::is_nothrow_move_constructible_v<Hook>) : hook_(std::move(hook)) {}
    void operator()() noexcept { hook_(); }

private:
    Hook hook_;
};

template <class Fn, class... Args>
    requires std::invocable<std::decay_t<Fn>, std::decay_t<Args>...>
[[nodiscard]] auto blocking(Fn&& fn, Args&&... args) {
    return detail::blocking_await<detail::no_interrupter, detail::callable_for<Fn>, std::decay_t<Args>...>(
        nullptr, detail::no_interrupter(), std::forward<Fn>(fn), std::forward<Args>(args)...);
}
template <class Hook, class Fn, class... Args>
    requires std::invocable<std::decay_t<Fn>, std::decay_t<Args>...>
[[nodiscard]] auto blocking(interrupted_by<Hook> hook, Fn&& fn, Args&&... args) {
    return detail::blocking_await<interrupted_by<Hook>, detail::callable_for<Fn>, std::decay_t<Args>...>(
        nullptr, std::move(hook), std::forward<Fn>(fn), std::forward<Args>(args)...);
}
template <class Fn, class... Args>
    requires std::invocable<std::decay_t<Fn>, std::decay_t<Args>...>
[[nodiscard]] auto blocking_on(ext::blocking_service& lane, Fn&& fn, Args&&... args) {
    return detail::blocking_await<detail::no_interrupter, detail::callable_for<Fn>, std::decay_t<Args>...>(
        &lane, detail::no_interrupter(), std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace roost::inline ROOST_ABI
