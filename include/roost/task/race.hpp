#pragma once

// Several tasks at once, one result wanted.
//
//   auto first = co_await race(ask(replica_a), ask(replica_b));     the first to end, with a value or an error
//   auto best = co_await first_success(ask(a), ask(b));             the first value; errors count only when all fail
//   first.index(); first.value();
//
// The losers are cancelled with the reason lost_race, and awaited: when the race is over nothing of it runs. That a loser was
// cancelled is no error; what losers fail with is kept in winner::others(), or beside the error that won. A task that ends
// cancelled by itself can't win; when all of them do, the awaiting body ends cancelled. Tasks start left to right, so of those
// that are ready at once on one thread the leftmost wins. A race over an empty vector is error(empty_set); over no arguments
// it doesn't compile. All results the same type: that type. Different ones: a variant whose index() is the winner's.

#include <roost/base/error.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/policy_scope.hpp>

#include <mutex>
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
    // What the others failed with.
    [[nodiscard]] const std::vector<std::exception_ptr>& others() const noexcept { return others_; }

private:
    std::size_t index_;
    T value_;
    std::vector<std::exception_ptr> others_;
};

// Every alternative of a first_success has failed; in the order in which they did.
class all_failed : public std::runtime_error {
public:
    explicit all_failed(std::vector<std::exception_ptr> errors);
    [[nodiscard]] const std::vector<std::exception_ptr>& errors() const noexcept { return *errors_; }

private:
    std::shared_ptr<const std::vector<std::exception_ptr>> errors_;  // an exception must be copyable without throwing
};

namespace detail {

enum class race_kind : unsigned char { first_end, first_value };

[[noreturn]] void throw_empty_race();
[[nodiscard]] inline node_name name_of(race_kind kind) noexcept {
    return kind == race_kind::first_end ? node_name("race") : node_name("first_success");
}

// Who has won, and what the others did. V: what all results become.
template <class V>
class race_state {
public:
    explicit race_state(race_kind kind) noexcept : kind_(kind) {}

    // The alternative has a value. The first one takes the race.
    template <class... Args>
    void value(scope_core& in, std::size_t index, Args&&... args) {
        {
            const std::lock_guard guard(lock_);
            if (decided_) {
                return;
            }
            value_.emplace(std::forward<Args>(args)...);
            index_ = index;
            decided_ = true;
        }
        in.node::cancel(reason::plain_kind(reason_kind::lost_race));
    }
    void error(scope_core& in, std::exception_ptr e) {
        {
            const std::lock_guard guard(lock_);
            errors_.push_back(e);
            if (decided_ || kind_ == race_kind::first_value) {
                return;
            }
            error_won_ = decided_ = true;
        }
        in.node::cancel(reason::plain_kind(reason_kind::lost_race));
    }

    // When everybody has ended.
    [[nodiscard]] bool has_winner() const noexcept { return value_.has_value(); }
    [[nodiscard]] bool error_won() const noexcept { return error_won_; }
    [[nodiscard]] winner<V> take() { return winner<V>(index_, std::move(*value_), std::move(errors_)); }
    [[nodiscard]] std::vector<std::exception_ptr>& errors() noexcept { return errors_; }

private:
    race_kind kind_;
    small_mutex lock_;
    bool decided_ = false;
    bool error_won_ = false;
    std::size_t index_ = 0;
    std::optional<V> value_;
    std::vector<std::exception_ptr> errors_;
};

template <class... T>
struct common_result {
    using type = std::variant<kept_t<T>...>;
    static constexpr bool same = false;
};
template <class T, class... U>
    requires(std::is_same_v<T, U> && ...)
struct common_result<T, U...> {
    using type = kept_t<T>;
    static constexpr bool same = true;
};

// One alternative. Index: where it goes in the variant; same: there is none.
template <bool Same, std::size_t Index, class V, class T>
task<> run_alternative(race_state<V>& race, scope_core& in, std::size_t index, task<T> t) {
    outcome<T> ended = co_await as_outcome(std::move(t));
    if (ended.has_error()) {
        race.error(in, ended.error());
    } else if (ended.is_cancelled()) {
        co_await end_cancelled(ended.why());
    } else if constexpr (std::is_void_v<T>) {
        if constexpr (Same) {
            race.value(in, index);
        } else {
            race.value(in, index, std::in_place_index<Index>);
        }
    } else if constexpr (Same) {
        race.value(in, index, std::move(ended).value());
    } else {
        race.value(in, index, std::in_place_index<Index>, std::move(ended).value());
    }
}

template <class V, class... T, std::size_t... I>
void launch_alternatives(scope& s, race_state<V>& race, std::vector<job>& jobs, std::index_sequence<I...>,
                         task<T>&... tasks) {
    constexpr bool same = common_result<T...>::same;
    jobs.reserve(sizeof...(T));
    (jobs.push_back(launch_in(s, "alternative", run_alternative<same, I, V, T>(race, s.core(), I, std::move(tasks)))), ...);
}

template <class V, class... T>
task<> start_race(scope& s, race_state<V>& race, std::vector<job>& jobs, task<T>... tasks) {
    launch_alternatives<V, T...>(s, race, jobs, std::index_sequence_for<T...>(), tasks...);
    co_return;
}

template <class T>
task<> start_race_of(scope& s, race_state<kept_t<T>>& race, std::vector<job>& jobs, std::vector<task<T>> tasks) {
    jobs.reserve(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        jobs.push_back(
            launch_in(s, "alternative", run_alternative<true, 0, kept_t<T>, T>(race, s.core(), i, std::move(tasks[i]))));
    }
    co_return;
}

// Everybody has ended: the result, the error, or the end of this body.
template <class V>
task<winner<V>> end_race(race_state<V>& race, race_kind kind, const std::vector<job>& jobs) {
    if (race.has_winner()) {
        co_return race.take();
    }
    std::vector<std::exception_ptr>& errors = race.errors();
    if (race.error_won()) {
        for (std::size_t i = 1; i < errors.size(); ++i) {
            co_await keep_failure_call(std::move(errors[i]));
        }
        std::rethrow_exception(errors.front());
    }
    if (kind == race_kind::first_value && !errors.empty()) {
        throw all_failed(std::move(errors));
    }
    co_await end_cancelled(first_cancellation(jobs));
    co_return race.take();
}

template <class... T>
task<winner<typename common_result<T...>::type>> run_race(race_kind kind, site where, task<T>... tasks) {
    static_assert(sizeof...(T) > 0, "a race over nothing has no winner");
    using value = typename common_result<T...>::type;
    race_state<value> race(kind);
    std::vector<job> jobs;
    using start_function = task<> (*)(scope&, race_state<value>&, std::vector<job>&, task<T>...);
    policy_scope<start_function, std::reference_wrapper<race_state<value>>, std::reference_wrapper<std::vector<job>>,
                 task<T>...>
    all(told_policy, name_of(kind), where, &start_race<value, T...>, std::ref(race), std::ref(jobs), std::move(tasks)...);
    co_await std::move(all);
    co_return co_await end_race(race, kind, jobs);
}

template <class T>
task<winner<kept_t<T>>> run_race_of(race_kind kind, site where, std::vector<task<T>> tasks) {
    if (tasks.empty()) {
        throw_empty_race();
    }
    race_state<kept_t<T>> race(kind);
    std::vector<job> jobs;
    using start_function = task<> (*)(scope&, race_state<kept_t<T>>&, std::vector<job>&, std::vector<task<T>>);
    policy_scope<start_function, std::reference_wrapper<race_state<kept_t<T>>>, std::reference_wrapper<std::vector<job>>,
                 std::vector<task<T>>>
        all(told_policy, name_of(kind), where, &start_race_of<T>, std::ref(race), std::ref(jobs), std::move(tasks));
    co_await std::move(all);
    co_return co_await end_race(race, kind, jobs);
}

}  // namespace detail

// Two to four, or a vector: reports say where they were written.
template <class A, class B>
[[nodiscard]] auto race(task<A> a, task<B> b, std::source_location where = std::source_location::current()) {
    return detail::run_race<A, B>(detail::race_kind::first_end, where, std::move(a), std::move(b));
}
template <class A, class B, class C>
[[nodiscard]] auto race(task<A> a, task<B> b, task<C> c, std::source_location where = std::source_location::current()) {
    return detail::run_race<A, B, C>(detail::race_kind::first_end, where, std::move(a), std::move(b), std::move(c));
}
template <class A, class B, class C, class D>
[[nodiscard]] auto race(task<A> a, task<B> b, task<C> c, task<D> d,
                        std::source_location where = std::source_location::current()) {
    return detail::run_race<A, B, C, D>(detail::race_kind::first_end, where, std::move(a), std::move(b), std::move(c),
                                        std::move(d));
}
template <class... T>
    requires(sizeof...(T) > 0)
[[nodiscard]] auto race(task<T>... tasks) {
    return detail::run_race<T...>(detail::race_kind::first_end, site(), std::move(tasks)...);
}
template <class T>
[[nodiscard]] auto race(std::vector<task<T>> tasks, std::source_location where = std::source_location::current()) {
    return detail::run_race_of<T>(detail::race_kind::first_end, where, std::move(tasks));
}
template <class A, class B>
[[nodiscard]] auto first_success(task<A> a, task<B> b, std::source_location where = std::source_location::current()) {
    return detail::run_race<A, B>(detail::race_kind::first_value, where, std::move(a), std::move(b));
}
template <class A, class B, class C>
[[nodiscard]] auto first_success(task<A> a, task<B> b, task<C> c,
                                 std::source_location where = std::source_location::current()) {
    return detail::run_race<A, B, C>(detail::race_kind::first_value, where, std::move(a), std::move(b), std::move(c));
}
template <class A, class B, class C, class D>
[[nodiscard]] auto first_success(task<A> a, task<B> b, task<C> c, task<D> d,
                                 std::source_location where = std::source_location::current()) {
    return detail::run_race<A, B, C, D>(detail::race_kind::first_value, where, std::move(a), std::move(b), std::move(c),
                                        std::move(d));
}
template <class... T>
    requires(sizeof...(T) > 0)
[[nodiscard]] auto first_success(task<T>... tasks) {
    return detail::run_race<T...>(detail::race_kind::first_value, site(), std::move(tasks)...);
}
template <class T>
[[nodiscard]] auto first_success(std::vector<task<T>> tasks, std::source_location where = std::source_location::current()) {
    return detail::run_race_of<T>(detail::race_kind::first_value, where, std::move(tasks));
}

}  // namespace roost::inline ROOST_ABI
