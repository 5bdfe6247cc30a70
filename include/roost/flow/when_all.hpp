#pragma once

// Runs several tasks at the same time and returns every result.
//
//   auto [user, news] = co_await when_all(load_user(id), load_news());      a tuple, in order
//   std::vector<row> rows = co_await when_all(std::move(queries));          a vector of tasks: a vector of results
//   auto each = co_await when_all_settled(ping(a), ping(b));                outcomes: a failure cancels nothing
//
// Each task is a child of its own. They begin from left to right, the first one inside the await. Each of the others begins
// when the one before it has ended or is suspended, here or on another worker. when_all fails fast: the first failure
// cancels the others, which are awaited, and is thrown with its own type. If a task ends cancelled, the others are
// cancelled, and the awaiting body ends cancelled with the same reason. Without tasks the await returns an empty tuple or
// vector at once. A void result is a std::monostate, a reference a std::reference_wrapper.

#include <roost/flow/detail/group/all_group.hpp>
#include <roost/task/as_outcome.hpp>

#include <vector>

namespace roost::inline ROOST_ABI {

// Two to four tasks, or a vector: reports show the site of the call.
template <class A, class B>
[[nodiscard]] auto when_all(task<A> a, task<B> b, std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::all_of<A, B>>({}, where, std::move(a), std::move(b));
}
template <class A, class B, class C>
[[nodiscard]] auto when_all(task<A> a, task<B> b, task<C> c, std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::all_of<A, B, C>>({}, where, std::move(a), std::move(b), std::move(c));
}
template <class A, class B, class C, class D>
[[nodiscard]] auto when_all(task<A> a, task<B> b, task<C> c, task<D> d,
                            std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::all_of<A, B, C, D>>({}, where, std::move(a), std::move(b), std::move(c), std::move(d));
}
template <class... T>
[[nodiscard]] auto when_all(task<T>... tasks) {
    return detail::fork_call<detail::all_of<T...>>({}, site(), std::move(tasks)...);
}
template <class T>
[[nodiscard]] auto when_all(std::vector<task<T>> tasks, std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::all_of_each<T>>({}, where, std::move(tasks));
}

template <class A, class B>
[[nodiscard]] auto when_all_settled(task<A> a, task<B> b, std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::settle_all<A, B>>({}, where, std::move(a), std::move(b));
}
template <class A, class B, class C>
[[nodiscard]] auto when_all_settled(task<A> a, task<B> b, task<C> c,
                                    std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::settle_all<A, B, C>>({}, where, std::move(a), std::move(b), std::move(c));
}
template <class A, class B, class C, class D>
[[nodiscard]] auto when_all_settled(task<A> a, task<B> b, task<C> c, task<D> d,
                                    std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::settle_all<A, B, C, D>>({}, where, std::move(a), std::move(b), std::move(c),
                                                             std::move(d));
}
template <class... T>
[[nodiscard]] auto when_all_settled(task<T>... tasks) {
    return detail::fork_call<detail::settle_all<T...>>({}, site(), std::move(tasks)...);
}
template <class T>
[[nodiscard]] auto when_all_settled(std::vector<task<T>> tasks,
                                    std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::settle_each<T>>({}, where, std::move(tasks));
}

// As above, for anything that a task can await, also mixed with tasks.
template <class A, class B>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B>) && (detail::waitable<A> || detail::waitable<B>))
[[nodiscard]] auto when_all(A&& a, B&& b, std::source_location where = std::source_location::current()) {
    return when_all(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)), where);
}
template <class A, class B, class C>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B> && detail::task_or_waitable<C>) &&
             (detail::waitable<A> || detail::waitable<B> || detail::waitable<C>))
[[nodiscard]] auto when_all(A&& a, B&& b, C&& c, std::source_location where = std::source_location::current()) {
    return when_all(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)),
                    roost::as_task(std::forward<C>(c)), where);
}
template <class A, class B, class C, class D>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B> && detail::task_or_waitable<C> &&
              detail::task_or_waitable<D>) &&
             (detail::waitable<A> || detail::waitable<B> || detail::waitable<C> || detail::waitable<D>))
[[nodiscard]] auto when_all(A&& a, B&& b, C&& c, D&& d, std::source_location where = std::source_location::current()) {
    return when_all(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)),
                    roost::as_task(std::forward<C>(c)), roost::as_task(std::forward<D>(d)), where);
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto when_all(std::vector<A> all, std::source_location where = std::source_location::current()) {
    return when_all(detail::as_tasks(std::move(all)), where);
}
template <class A, class B>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B>) && (detail::waitable<A> || detail::waitable<B>))
[[nodiscard]] auto when_all_settled(A&& a, B&& b, std::source_location where = std::source_location::current()) {
    return when_all_settled(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)), where);
}
template <class A, class B, class C>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B> && detail::task_or_waitable<C>) &&
             (detail::waitable<A> || detail::waitable<B> || detail::waitable<C>))
[[nodiscard]] auto when_all_settled(A&& a, B&& b, C&& c, std::source_location where = std::source_location::current()) {
    return when_all_settled(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)),
                            roost::as_task(std::forward<C>(c)), where);
}
template <class A, class B, class C, class D>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B> && detail::task_or_waitable<C> &&
              detail::task_or_waitable<D>) &&
             (detail::waitable<A> || detail::waitable<B> || detail::waitable<C> || detail::waitable<D>))
[[nodiscard]] auto when_all_settled(A&& a, B&& b, C&& c, D&& d,
                                    std::source_location where = std::source_location::current()) {
    return when_all_settled(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)),
                            roost::as_task(std::forward<C>(c)), roost::as_task(std::forward<D>(d)), where);
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto when_all_settled(std::vector<A> all, std::source_location where = std::source_location::current()) {
    return when_all_settled(detail::as_tasks(std::move(all)), where);
}

// Chosen for any other argument. Does not compile; the message has the reason.
template <class... X>
    requires(!detail::are_tasks<X...>)
auto when_all(X&&...) {
    static_assert(detail::are_tasks<X...>, "when_all takes tasks and what a task can await, or one vector of them");
    return task<>();
}
template <class... X>
    requires(!detail::are_tasks<X...>)
auto when_all_settled(X&&...) {
    static_assert(detail::are_tasks<X...>, "when_all_settled takes tasks and what a task can await, or one vector of them");
    return task<>();
}

}  // namespace roost::inline ROOST_ABI
