#pragma once

// Runs several tasks at the same time and returns one result.
//
//   auto first = co_await race(ask(replica_a), ask(replica_b));     the first to end, with a value or an error
//   auto best = co_await first_success(ask(a), ask(b));             the first value; errors count only when all fail
//   first.index(); first.value();
//
// The losers are cancelled with the reason lost_race, and awaited: when the race ends, none of its tasks runs. The
// cancellation of a loser is no error. Failures of losers are in winner::others(), or travel with the error that won. A task
// that ends cancelled by itself cannot win; if all of them do, the awaiting body ends cancelled. Tasks begin left to right,
// as those of when_all do. So of the tasks that are ready at once on one thread the leftmost wins, and those behind it never
// begin. A race over an empty vector throws error(empty_set); over no arguments it does not compile. If all results have the
// same type, the value has that type. Otherwise it is a variant whose index() is the winner's.

#include <roost/base/error.hpp>
#include <roost/flow/detail/fork_call.hpp>
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

// Thrown if every alternative of a first_success has failed. errors() is in the order in which they failed, each followed by
// its further failures.
class all_failed : public std::runtime_error {
public:
    explicit all_failed(std::vector<std::exception_ptr> errors);
    [[nodiscard]] const std::vector<std::exception_ptr>& errors() const noexcept { return *errors_; }

private:
    // Shared, because an exception must be copyable without throwing. Errors may nest errors of this kind: destroying them
    // uses constant stack.
    std::shared_ptr<const std::vector<std::exception_ptr>> errors_;
};

namespace detail {

enum class race_kind : unsigned char { first_end, first_value };

[[noreturn]] void throw_empty_race();
[[nodiscard]] inline node_name name_of(race_kind kind) noexcept {
    return kind == race_kind::first_end ? node_name("race") : node_name("first_success");
}

class race_slot : public outcome_slot {
public:
    using outcome_slot::outcome_slot;
    std::uint32_t failed_as = 0;  // the first to fail is 1
};

extern const fork_rules race_rules;

// The winner, and the order in which the others failed. The results stay in the slots.
//
// id  operation               order    pairs  carries                                               fails in
// R1  ended: CAS, fetch_add   relaxed  -      nothing but who was first: the scope's end orders it  (floor)
// R2  winner, failures: load  relaxed  -      as R1                                                 (floor)
class race_group : public fork {
public:
    [[nodiscard]] bool ended(race_slot& slot, ending how) noexcept;
    [[nodiscard]] next_step finish() noexcept;
    // Returns the index of the value that won. Throws if an error won, or if there is no winner.
    [[nodiscard]] std::size_t winner_or_throw();
    // Returns the failures of the others, in the order in which they failed, each followed by its further failures.
    [[nodiscard]] std::vector<std::exception_ptr> errors() const;

protected:
    template <class Kind>
    race_group(promise_base& me, Kind kind) noexcept : fork(me, race_rules), kind_(kind.kind) {}
    ~race_group() = default;
    [[nodiscard]] node_name name() const noexcept { return name_of(kind_); }

private:
    [[nodiscard]] fork_slot* winner() const noexcept;
    [[nodiscard]] std::vector<const race_slot*> failed_slots() const;

    race_kind kind_;
    atomic<std::uint32_t> winner_{0};  // index + 1
    atomic<std::uint32_t> failures_{0};
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

template <class... T>
struct race_of {
    using value = typename common_result<T...>::type;
    using group = race_group;
    using tasks = std::tuple<task<T>...>;
    using slots = fork_tuple<race_slot, std::index_sequence_for<T...>, T...>;
    using result = winner<value>;
    template <class Group>
    [[nodiscard]] static result take(Group& from, slots& all) {
        const std::size_t index = from.winner_or_throw();
        return take_one<0>(index, all, from.errors());
    }
    race_kind kind;

private:
    template <std::size_t I>
    [[nodiscard]] static result take_one(std::size_t index, slots& all, std::vector<std::exception_ptr> others) {
        if constexpr (I + 1 < sizeof...(T)) {
            if (index != I) {
                return take_one<I + 1>(index, all, std::move(others));
            }
        }
        if constexpr (common_result<T...>::same) {
            return result(index, all.template get<I>().take_kept(), std::move(others));
        } else {
            return result(index, value(std::in_place_index<I>, all.template get<I>().take_kept()), std::move(others));
        }
    }
};

template <class T>
struct race_of_each {
    using group = race_group;
    using tasks = std::vector<task<T>>;
    using slots = fork_array<race_slot, T>;
    using result = winner<kept_t<T>>;
    template <class Group>
    [[nodiscard]] static result take(Group& from, slots& all) {
        const std::size_t index = from.winner_or_throw();
        return result(index, all.at(index).take_kept(), from.errors());
    }
    race_kind kind;
};

}  // namespace detail

// Two to four tasks, or a vector: reports show the place of the call.
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

// Chosen for any other argument: does not compile, and the message says why.
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
