#pragma once

// Runs several tasks at the same time and returns one result.
//
//   auto first = co_await race(ask(replica_a), ask(replica_b));     the first to end, with a value or an error
//   auto best = co_await first_success(ask(a), ask(b));             the first value; errors count only when all fail
//   first.index(); first.value();
//
// The losers are cancelled with the reason lost_race, and awaited: when the race ends, none of its tasks runs. The
// cancellation of a loser is no error. Failures of losers are in winner::others(), or travel with the error that won. A task
// that ends cancelled by itself cannot win. If all of them do, the awaiting body ends cancelled. Tasks begin left to right,
// as those of when_all do. So if several tasks are ready at once on one thread, the leftmost wins, and those behind it never
// begin. A race over an empty vector throws error(empty_set); over no arguments it does not compile. If all results have the
// same type, the value has that type. Otherwise it is a variant whose index() is the winner's.

#include <roost/base/error.hpp>
#include <roost/flow/detail/group/race_group.hpp>
#include <roost/task/as_outcome.hpp>

#include <stdexcept>
#include <type_traits>
#include <vector>

namespace roost::inline ROOST_ABI {

template <class T>
class [[nodiscard]] winner {
public:
    winner(std::size_t index, T value,
           std::vector<std::exception_ptr> others) noexcept(std::is_nothrow_move_constructible_v<T>)
        : index_(index), value_(std::move(value)), others_(std::move(others)) {}
    [[nodiscard]] std::size_t index() const noexcept { return index_; }
    [[nodiscard]] T& value() & noexcept { return value_; }
    [[nodiscard]] const T& value() const& noexcept { return value_; }
    [[nodiscard]] T value() && { return std::move(value_); }
    // Returns the failures of the others.
    [[nodiscard]] const std::vector<std::exception_ptr>& others() const noexcept { return others_; }

private:
    std::size_t index_;
    T value_;
    std::vector<std::exception_ptr> others_;
};

// Thrown by first_success if no alternative returned a value and at least one failed. errors() is in the order in which they
// failed, each followed by its further failures.
class all_failed : public std::runtime_error {
public:
    explicit all_failed(std::vector<std::exception_ptr> errors);
    [[nodiscard]] const std::vector<std::exception_ptr>& errors() const noexcept { return *errors_; }

private:
    // Shared, because an exception must be copyable without throwing. Errors may nest errors of this kind: destroying them
    // uses constant stack.
    std::shared_ptr<const std::vector<std::exception_ptr>> errors_;
};

// Two to four tasks, or a vector: reports show the site of the call.
template <class A, class B>
[[nodiscard]] auto race(task<A> a, task<B> b, std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::race_of<A, B>>({detail::race_kind::first_end}, where, std::move(a), std::move(b));
}
template <class A, class B, class C>
[[nodiscard]] auto race(task<A> a, task<B> b, task<C> c, std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::race_of<A, B, C>>({detail::race_kind::first_end}, where, std::move(a), std::move(b),
                                                       std::move(c));
}
template <class A, class B, class C, class D>
[[nodiscard]] auto race(task<A> a, task<B> b, task<C> c, task<D> d,
                        std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::race_of<A, B, C, D>>({detail::race_kind::first_end}, where, std::move(a), std::move(b),
                                                          std::move(c), std::move(d));
}
template <class... T>
    requires(sizeof...(T) > 0)
[[nodiscard]] auto race(task<T>... tasks) {
    return detail::fork_call<detail::race_of<T...>>({detail::race_kind::first_end}, site(), std::move(tasks)...);
}
template <class T>
[[nodiscard]] auto race(std::vector<task<T>> tasks, std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::race_of_each<T>>({detail::race_kind::first_end}, where, std::move(tasks));
}
template <class A, class B>
[[nodiscard]] auto first_success(task<A> a, task<B> b, std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::race_of<A, B>>({detail::race_kind::first_value}, where, std::move(a), std::move(b));
}
template <class A, class B, class C>
[[nodiscard]] auto first_success(task<A> a, task<B> b, task<C> c,
                                 std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::race_of<A, B, C>>({detail::race_kind::first_value}, where, std::move(a), std::move(b),
                                                       std::move(c));
}
template <class A, class B, class C, class D>
[[nodiscard]] auto first_success(task<A> a, task<B> b, task<C> c, task<D> d,
                                 std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::race_of<A, B, C, D>>({detail::race_kind::first_value}, where, std::move(a),
                                                          std::move(b), std::move(c), std::move(d));
}
template <class... T>
    requires(sizeof...(T) > 0)
[[nodiscard]] auto first_success(task<T>... tasks) {
    return detail::fork_call<detail::race_of<T...>>({detail::race_kind::first_value}, site(), std::move(tasks)...);
}
template <class T>
[[nodiscard]] auto first_success(std::vector<task<T>> tasks, std::source_location where = std::source_location::current()) {
    return detail::fork_call<detail::race_of_each<T>>({detail::race_kind::first_value}, where, std::move(tasks));
}

// As above, for anything that a task can await, also mixed with tasks.
template <class A, class B>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B>) && (detail::waitable<A> || detail::waitable<B>))
[[nodiscard]] auto race(A&& a, B&& b, std::source_location where = std::source_location::current()) {
    return race(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)), where);
}
template <class A, class B, class C>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B> && detail::task_or_waitable<C>) &&
             (detail::waitable<A> || detail::waitable<B> || detail::waitable<C>))
[[nodiscard]] auto race(A&& a, B&& b, C&& c, std::source_location where = std::source_location::current()) {
    return race(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)), roost::as_task(std::forward<C>(c)),
                where);
}
template <class A, class B, class C, class D>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B> && detail::task_or_waitable<C> &&
              detail::task_or_waitable<D>) &&
             (detail::waitable<A> || detail::waitable<B> || detail::waitable<C> || detail::waitable<D>))
[[nodiscard]] auto race(A&& a, B&& b, C&& c, D&& d, std::source_location where = std::source_location::current()) {
    return race(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)), roost::as_task(std::forward<C>(c)),
                roost::as_task(std::forward<D>(d)), where);
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto race(std::vector<A> all, std::source_location where = std::source_location::current()) {
    return race(detail::as_tasks(std::move(all)), where);
}
template <class A, class B>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B>) && (detail::waitable<A> || detail::waitable<B>))
[[nodiscard]] auto first_success(A&& a, B&& b, std::source_location where = std::source_location::current()) {
    return first_success(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)), where);
}
template <class A, class B, class C>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B> && detail::task_or_waitable<C>) &&
             (detail::waitable<A> || detail::waitable<B> || detail::waitable<C>))
[[nodiscard]] auto first_success(A&& a, B&& b, C&& c, std::source_location where = std::source_location::current()) {
    return first_success(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)),
                         roost::as_task(std::forward<C>(c)), where);
}
template <class A, class B, class C, class D>
    requires((detail::task_or_waitable<A> && detail::task_or_waitable<B> && detail::task_or_waitable<C> &&
              detail::task_or_waitable<D>) &&
             (detail::waitable<A> || detail::waitable<B> || detail::waitable<C> || detail::waitable<D>))
[[nodiscard]] auto first_success(A&& a, B&& b, C&& c, D&& d, std::source_location where = std::source_location::current()) {
    return first_success(roost::as_task(std::forward<A>(a)), roost::as_task(std::forward<B>(b)),
                         roost::as_task(std::forward<C>(c)), roost::as_task(std::forward<D>(d)), where);
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto first_success(std::vector<A> all, std::source_location where = std::source_location::current()) {
    return first_success(detail::as_tasks(std::move(all)), where);
}

// Chosen for any other argument. Does not compile; the message has the reason.
template <class... X>
    requires(!detail::are_tasks<X...>)
auto race(X&&...) {
    static_assert(detail::are_tasks<X...>, "race takes tasks and what a task can await, or one vector of them");
    return task<>();
}
template <class... X>
    requires(!detail::are_tasks<X...>)
auto first_success(X&&...) {
    static_assert(detail::are_tasks<X...>, "first_success takes tasks and what a task can await, or one vector of them");
    return task<>();
}

}  // namespace roost::inline ROOST_ABI
