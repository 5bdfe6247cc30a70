#pragma once

// A scope in which nobody's failure disturbs the others, and none is forgotten.
//
//   co_await collect(close_all, std::ref(connections));
//
//   task<> close_all(scope& s, connections& c) {
//       for (auto& one : c) s.launch(one.name(), one.close());
//       co_return;
//   }
//
// Every child runs to its end, whatever happens to its siblings or the body. Then the first failure, in order of time, is
// thrown with its own type, and the others are kept beside it, in order; without one it gives the body's value. A child that
// is cancelled by itself is no failure. Cancelling the scope cancels all; what has failed by then, or fails on the way, is
// thrown nevertheless.

#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/policy_scope.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

// Every failure is kept, nobody is cancelled for it.
extern const scope_policy collect_policy;

// The body's failure is one of them.
template <class T, class Fn, class... Args>
task<> collecting_body(scope& s, std::optional<kept_t<T>>& value, Fn fn, Args... args) {
    outcome<void> ended;
    try {
        task<> body = keep_result<T>(value, std::invoke(fn, s, std::move(args)...));
        ended = co_await as_outcome(std::move(body));
    } catch (...) {
        ended = outcome<void>(std::current_exception());
    }
    if (ended.has_error()) {
        s.core().keep(ended.error());
        for (const std::exception_ptr& other : ended.others()) {
            s.core().keep(other);
        }
    } else if (ended.is_cancelled()) {
        co_await end_cancelled(ended.why());
    }
}

template <class T, class Fn, class... Args>
task<T> collect_task(site where, Fn fn, Args... args) {
    std::optional<kept_t<T>> value;
    using start_function = task<> (*)(scope&, std::optional<kept_t<T>>&, Fn, Args...);
    policy_scope<start_function, std::reference_wrapper<std::optional<kept_t<T>>>, Fn, Args...> in(
        collect_policy, "collect", where, &collecting_body<T, Fn, Args...>, std::ref(value), std::move(fn),
        std::move(args)...);
    co_await std::move(in);
    if constexpr (std::is_reference_v<T>) {
        co_return static_cast<T>(value->get());
    } else if constexpr (!std::is_void_v<T>) {
        co_return std::move(*value);
    }
}

template <class Fn, class... Args>
[[nodiscard]] auto collect_at(site where, Fn&& fn, Args&&... args) {
    constexpr bool is_callable = std::is_invocable_v<callable_for<Fn>&, scope&, std::decay_t<Args>...>;
    static_assert(is_callable,
                  "collect(fn, args...): fn(scope&, args...) cannot be called with these arguments, which are passed as "
                  "copies; for a parameter that is a reference write std::ref(x)");
    if constexpr (is_callable) {
        using made = std::invoke_result_t<callable_for<Fn>&, scope&, std::decay_t<Args>...>;
        static_assert(is_task<made>, "collect(fn, args...): fn(scope&, args...) has to return a task");
        return collect_task<typename made::value_type, callable_for<Fn>, std::decay_t<Args>...>(where, std::forward<Fn>(fn),
                                                                                                std::forward<Args>(args)...);
    } else {
        return task<>();
    }
}

}  // namespace detail

// co_await collect(fn, args...): like with_scope, for fn(scope&, args...).
// With at most three arguments reports say where it was written, with more they say where the job was launched.
template <class Fn>
[[nodiscard]] auto collect(Fn&& fn, std::source_location where = std::source_location::current()) {
    return detail::collect_at(where, std::forward<Fn>(fn));
}
template <class Fn, class A>
[[nodiscard]] auto collect(Fn&& fn, A&& a, std::source_location where = std::source_location::current()) {
    return detail::collect_at(where, std::forward<Fn>(fn), std::forward<A>(a));
}
template <class Fn, class A, class B>
[[nodiscard]] auto collect(Fn&& fn, A&& a, B&& b, std::source_location where = std::source_location::current()) {
    return detail::collect_at(where, std::forward<Fn>(fn), std::forward<A>(a), std::forward<B>(b));
}
template <class Fn, class A, class B, class C>
[[nodiscard]] auto collect(Fn&& fn, A&& a, B&& b, C&& c, std::source_location where = std::source_location::current()) {
    return detail::collect_at(where, std::forward<Fn>(fn), std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}
template <class Fn, class... Args>
    requires(sizeof...(Args) > 3)
[[nodiscard]] auto collect(Fn&& fn, Args&&... args) {
    return detail::collect_at(site(), std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace roost::inline ROOST_ABI
