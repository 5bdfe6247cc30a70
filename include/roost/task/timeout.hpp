#pragma once

// Deadlines for a task.
//
//   row r = co_await fail_after(50ms, load(id));        throws timed_out when it takes longer
//   auto r = co_await move_on_after(50ms, load(id));    std::optional<row>; bool for a task<void>, a pointer for a reference
//
// The task runs under its own deadline. When the deadline passes, the task is cancelled with the reason `timeout`. Its waits
// end, and it does not resume from its next await. If the task still ends with a value or an error, that is the result,
// however late. One exception: the deadline cancelled children of a scope inside the task. Then a value that the task
// returned is destroyed, and the task has timed out.
//
// Awaits that are always ready check the clock now and then. So a limit ends a loop of them within two milliseconds of its
// time. If the outer job is cancelled too, that wins over a timeout: the awaiting body ends cancelled. A timeout of zero or
// less does not start the task. The earliest deadline on the way up to the nearest shield counts; this_token() returns it.

#include <roost/base/error.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/frame/timeout_await.hpp>
#include <roost/task/detail/frame/timers.hpp>

#include <chrono>
#include <optional>
#include <source_location>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class Rep, class Period, class T>
[[nodiscard]] auto fail_after(std::chrono::duration<Rep, Period> d, task<T> t,
                              std::source_location where = std::source_location::current()) noexcept {
    return detail::timeout_call<T, detail::when_late::fail>(detail::saturated(d), std::move(t), where);
}
template <class T>
[[nodiscard]] auto fail_at(time_point at, task<T> t, std::source_location where = std::source_location::current()) noexcept {
    return detail::timeout_call<T, detail::when_late::fail>(at, std::move(t), where);
}
template <class Rep, class Period, class T>
[[nodiscard]] auto move_on_after(std::chrono::duration<Rep, Period> d, task<T> t,
                                 std::source_location where = std::source_location::current()) noexcept {
    return detail::timeout_call<T, detail::when_late::move_on>(detail::saturated(d), std::move(t), where);
}
template <class T>
[[nodiscard]] auto move_on_at(time_point at, task<T> t,
                              std::source_location where = std::source_location::current()) noexcept {
    return detail::timeout_call<T, detail::when_late::move_on>(at, std::move(t), where);
}

// As above, for anything else that a task can await: a wait, a deferred, a scope.
template <class Rep, class Period, class A>
    requires detail::waitable<A>
[[nodiscard]] auto fail_after(std::chrono::duration<Rep, Period> d, A&& a,
                              std::source_location where = std::source_location::current()) {
    return fail_after(d, roost::as_task(std::forward<A>(a)), where);
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto fail_at(time_point at, A&& a, std::source_location where = std::source_location::current()) {
    return fail_at(at, roost::as_task(std::forward<A>(a)), where);
}
template <class Rep, class Period, class A>
    requires detail::waitable<A>
[[nodiscard]] auto move_on_after(std::chrono::duration<Rep, Period> d, A&& a,
                                 std::source_location where = std::source_location::current()) {
    return move_on_after(d, roost::as_task(std::forward<A>(a)), where);
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto move_on_at(time_point at, A&& a, std::source_location where = std::source_location::current()) {
    return move_on_at(at, roost::as_task(std::forward<A>(a)), where);
}

// Chosen if one of the two arguments is wrong; the message names which. Functions of the same name for other types stay
// usable.
template <class D, class A>
    requires(detail::is_duration<D> != detail::task_or_waitable<A>)
task<> fail_after(D, A&&) {
    static_assert(detail::is_duration<D>, "fail_after(limit, task): the limit is a duration (200ms); fail_at takes a time");
    static_assert(detail::task_or_waitable<A>, "fail_after(limit, task) takes a task or something that a task can await");
    return {};
}
template <class D, class A>
    requires(detail::is_duration<D> != detail::task_or_waitable<A>)
task<> move_on_after(D, A&&) {
    static_assert(detail::is_duration<D>,
                  "move_on_after(limit, task): the limit is a duration (200ms); move_on_at takes a time");
    static_assert(detail::task_or_waitable<A>, "move_on_after(limit, task) takes a task or something that a task can await");
    return {};
}

}  // namespace roost::inline ROOST_ABI
