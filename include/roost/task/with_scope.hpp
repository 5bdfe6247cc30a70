#pragma once

// Children that cannot outlive the block they were started in.
//
//   auto page = co_await with_scope(build_page, id);
//
//   task<page> build_page(scope& s, int id) {
//       auto user = s.async("user", load_user(id));
//       auto news = s.async("news", load_news());
//       co_return page(co_await std::move(user), co_await std::move(news));
//   }
//
// with_scope returns when the body and every child have ended. If one of them fails, body and children are cancelled. The
// first error is rethrown with its own type, and the further ones travel with it (others_of). Cancelling one child is not a
// failure. A cancel is passed on to the children. It does not end the wait for them. scope_options set how many children run
// at a time and what a failure does. Every scope can have daemons.

#include <roost/task/detail/closure_check.hpp>
#include <roost/task/detail/forward.hpp>
#include <roost/task/scope.hpp>

#include <exception>
#include <functional>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

// co_await with_scope(fn, args...), co_await with_scope(options, fn, args...): runs fn(scope&, args...), a task, and waits
// for its children too. Arguments are moved into the parameters of fn, which end with the body. Children can run longer: a
// child must not refer to such a parameter. fn and its captures live until all children have ended.
template <class Fn, class... Args>
class [[nodiscard("nothing runs until it is awaited: write co_await")]] with_scope : public detail::task_only {
    static constexpr bool is_callable = std::is_invocable_v<Fn&, scope&, Args...>;
    static_assert(is_callable,
                  "with_scope(fn, args...): fn(scope&, args...) cannot be called with these arguments, which are passed as "
                  "copies; for a parameter that is a reference write std::ref(x)");
    using returned = detail::task_of_call<is_callable, Fn&, scope&, Args...>;
    static constexpr bool is_usable = is_callable && detail::is_task<returned>;
    static_assert(detail::is_task<returned>, "with_scope(fn, args...): fn(scope&, args...) has to return a task");
    using value = typename detail::task_or_nothing<is_usable, returned>::type::value_type;

public:
    explicit with_scope(Fn fn, Args... args, std::source_location where = std::source_location::current())
        : options_("scope", where), fn_(std::move(fn)), args_(std::move(args)...) {}
    explicit with_scope(scope_options options, Fn fn, Args... args)
        : options_(options), fn_(std::move(fn)), args_(std::move(args)...) {}

    template <detail::transfer Mode = detail::this_transfer>
    [[nodiscard]] auto in_task(detail::promise_base& me) && {
        return detail::scope_await<value, with_scope, Mode>(me, *this, detail::policy_of(options_.failures()),
                                                            options_.limit());
    }

    [[nodiscard]] roost::site site() const noexcept { return options_.site(); }
    [[nodiscard]] node_name name() const noexcept { return options_.name(); }

private:
    friend struct detail::task_access;
    [[nodiscard]] detail::promise_base& start(scope& s) {
        if constexpr (is_usable) {
            return detail::task_access::release_frame(
                std::apply([&](auto&... args) { return std::invoke(fn_, s, std::move(args)...); }, args_));
        } else {
            std::terminate();
        }
    }

    scope_options options_;
    Fn fn_;
    std::tuple<Args...> args_;
};
template <class Fn, class... Args>
with_scope(scope_options, Fn&&, Args&&...) -> with_scope<detail::callable_for<Fn>, std::decay_t<Args>...>;
template <class Fn, class... Args>
with_scope(Fn&&, Args&&...) -> with_scope<detail::callable_for<Fn>, std::decay_t<Args>...>;

}  // namespace roost::inline ROOST_ABI

// The definitions.
#include <roost/task/detail/job/scope_await.hpp>
