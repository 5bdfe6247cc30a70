#pragma once

// The body of supervise().

#include <roost/flow/supervise.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/job/policy_scope.hpp>

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace roost::inline ROOST_ABI {

namespace detail {

// A failing body cancels the children, but is no failure of the scope: its outcome is part of the result.
template <class T, class Fn, class... Args>
task<> supervised_body(scope& s, supervision& all, std::optional<supervisor>& made, outcome<kept_t<T>>& result, Fn fn,
                       Args... args) {
    std::optional<kept_t<T>> value;
    outcome<void> ended;
    try {
        task<> body = keep_result<T>(value, std::invoke(fn, made.emplace(all, s), std::move(args)...));
        ended = co_await as_outcome(std::move(body));
    } catch (...) {
        ended = outcome<void>(std::current_exception());
    }
    if (ended.is_cancelled()) {
        co_await end_cancelled(ended.why());
    }
    if (ended.has_error()) {
        result = outcome<kept_t<T>>(ended.error());
        s.cancel(reason::plain_kind(reason_kind::failure));
        add_others(result, ended.others());
    } else {
        result = outcome<kept_t<T>>(std::in_place, std::move(*value));
    }
}

// name: that of the options if it is no literal.
template <class T, class Fn, class... Args>
task<supervised<T>> supervise_task(scope_options how, std::string name, on_failure what, Fn fn, Args... args) {
    const site where = how.site();
    supervision all(std::move(what), where);
    std::optional<supervisor> made;  // lives here because children may use it after the body has returned
    outcome<kept_t<T>> result;
    using start_function = task<> (*)(scope&, supervision&, std::optional<supervisor>&, outcome<kept_t<T>>&, Fn, Args...);
    policy_scope<start_function, std::reference_wrapper<supervision>, std::reference_wrapper<std::optional<supervisor>>,
                 std::reference_wrapper<outcome<kept_t<T>>>, Fn, Args...>
    in(all, how.name().is_literal() ? how.name() : node_name(name), where, &supervised_body<T, Fn, Args...>, std::ref(all),
       std::ref(made), std::ref(result), std::move(fn), std::move(args)...);
    std::exception_ptr escalated;
    try {
        co_await std::move(in.at_most(how.limit()));
    } catch (...) {
        escalated = std::current_exception();
    }
    if (!escalated) {
        co_return supervised<T>(std::move(result), all.counts(), all.take_failures(), where);
    }
    if (result.has_error()) {
        co_await carry_failure(escalated, result.error());
    }
    for (const std::exception_ptr& other : result.others()) {
        co_await carry_failure(escalated, other);
    }
    std::rethrow_exception(escalated);
}

}  // namespace detail

template <class Fn, class... Args>
auto supervise(detail::placed<on_failure> what, Fn&& fn, Args&&... args)
    -> task<supervised<detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>>> {
    using value = detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>;
    return detail::supervise_task<value, detail::callable_for<Fn>, std::decay_t<Args>...>(
        scope_options("supervise", what.site()), std::string(), std::move(what.value()), std::forward<Fn>(fn),
        std::forward<Args>(args)...);
}
template <class Fn, class... Args>
auto supervise(scope_options how, on_failure what, Fn&& fn, Args&&... args)
    -> task<supervised<detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>>> {
    using value = detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>;
    detail::check_supervise_options(how);
    return detail::supervise_task<value, detail::callable_for<Fn>, std::decay_t<Args>...>(
        how, how.name().is_literal() ? std::string() : std::string(how.name().text()), std::move(what), std::forward<Fn>(fn),
        std::forward<Args>(args)...);
}

}  // namespace roost::inline ROOST_ABI
