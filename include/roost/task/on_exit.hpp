#pragma once

// Asynchronous cleanup at the end of a coroutine.
//
//   task<> transfer(connection& c) {
//       co_await c.begin();
//       co_await on_exit(&connection::rollback_if_open, &c);
//       ...
//   }
//
// fn(args...), a task, runs when the coroutine that registered it ends, however it ends. It runs after the coroutine's
// locals are destroyed and before the awaiting coroutine resumes. The last registered runs first. It runs in a shield, so it
// can await in a cancelled job. The budget of the shield is three seconds; on_exit(...).within(d) sets another one. On an
// executor without timers there is no limit. An exception from fn does not replace the outcome. It is kept as a further
// failure.

#include <roost/task/detail/closure_check.hpp>
#include <roost/task/detail/frame/exit_action.hpp>
#include <roost/task/shield.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

// A function, not a class: the C library has a function on_exit. A using-directive must not make the name ambiguous.
template <class Fn, class... Args>
[[nodiscard]] auto on_exit(Fn&& fn, Args&&... args) {
    constexpr bool is_callable = std::is_invocable_v<detail::callable_for<Fn>&, std::decay_t<Args>...>;
    static_assert(
        is_callable,
        "on_exit(fn, args...): fn(args...) cannot be called with these arguments, which are passed as copies; write "
        "on_exit(clean_up), not on_exit(clean_up()), and std::ref(x) for a parameter that is a reference");
    if constexpr (is_callable) {
        return detail::exit_call<detail::callable_for<Fn>, std::decay_t<Args>...>(
            detail::default_exit_budget, std::forward<Fn>(fn), std::forward<Args>(args)...);
    } else {
        return std::suspend_never();
    }
}

}  // namespace roost::inline ROOST_ABI
