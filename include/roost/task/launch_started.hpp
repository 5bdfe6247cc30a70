#pragma once

// Starts a child and waits until the child reports that it is ready, not until it ends.
//
//   task<> serve(started<std::uint16_t> ready, std::string host) {
//       listener l(host);
//       ready(l.port());                                     // from here on the caller does not wait for the child
//       ...
//   }
//   const auto port = co_await launch_started<std::uint16_t>(s, "server", serve, std::string("::1"));
//
// Returns the value that the child passed to `ready`. Until then the child belongs to the caller. Its failure is thrown here
// and fails no scope. If the caller is cancelled, the child is cancelled too. If the child ends, or is cancelled, before it
// is ready, throws error(promise_dropped). From `ready` on it is a child of the scope like any other. Throws error(refused)
// if the scope is closed.

#include <roost/base/outcome.hpp>
#include <roost/task/detail/child_name.hpp>
#include <roost/task/detail/closure_check.hpp>
#include <roost/task/detail/job/started_child.hpp>
#include <roost/task/scope.hpp>

#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

// The child calls it once, when it is ready. Movable, also to another job. After the child has ended, a call has no effect.
// A second call ends the program.
template <class T = void>
class started {
public:
    explicit started(std::shared_ptr<detail::start_meeting<T>> at) noexcept : at_(std::move(at)) {}

    template <class... Args>
    void operator()(Args&&... args) {
        using meeting = detail::start_meeting<T>;
        if (!at_) {
            detail::refuse_second_start();
        }
        outcome<T> with(std::in_place, std::forward<Args>(args)...);
        const std::shared_ptr<meeting> at = std::exchange(at_, nullptr);
        const typename meeting::end before = at->claim(meeting::end::ready);
        if (before == meeting::end::ready) {
            detail::refuse_second_start();
        }
        if (before == meeting::end::none) {
            give(*at, with);
        }
    }

private:
    // If moving the value throws, the caller receives that exception.
    static void give(detail::start_meeting<T>& at, outcome<T>& with) noexcept {
        try {
            at.ended = std::move(with);
        } catch (...) {
            at.ended = outcome<T>(std::current_exception());
        }
        at.settled.set();
    }

    std::shared_ptr<detail::start_meeting<T>> at_;
};

template <class T = void, class Fn, class... Args>
[[nodiscard]] task<T> launch_started(scope& s, detail::child_name name, Fn&& fn, Args&&... args) {
    constexpr bool is_callable = std::is_invocable_v<detail::callable_for<Fn>&, started<T>, std::decay_t<Args>...>;
    static_assert(
        is_callable,
        "launch_started<T>(scope, name, fn, args...): fn(started<T>, args...) cannot be called with these arguments, "
        "which are passed as copies; for a parameter that is a reference write std::ref(x)");
    if constexpr (is_callable) {
        using made = std::invoke_result_t<detail::callable_for<Fn>&, started<T>, std::decay_t<Args>...>;
        static_assert(detail::is_task<made>,
                      "launch_started<T>(scope, name, fn, args...): fn(started<T>, args...) has to return a task");
        return detail::start_and_wait<T, detail::callable_for<Fn>, std::decay_t<Args>...>(
            &s, std::string(name.text()), name.site(), std::forward<Fn>(fn), std::forward<Args>(args)...);
    } else {
        return task<T>();
    }
}

}  // namespace roost::inline ROOST_ABI
