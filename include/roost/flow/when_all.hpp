#pragma once

// Runs several tasks at the same time and returns every result.
//
//   auto [user, news] = co_await when_all(load_user(id), load_news());      a tuple, in order
//   std::vector<row> rows = co_await when_all(std::move(queries));          a vector of tasks: a vector of results
//   auto each = co_await when_all_settled(ping(a), ping(b));                outcomes: nothing fails, nothing is cancelled
//
// Each task is a child of its own. They begin from left to right, the first one inside the await. Each of the others begins
// when the one before it has ended or is suspended, here or on another worker. when_all fails fast: the first failure cancels
// the others, which are awaited, and is thrown with its own type. If a task ends cancelled there is no result: the others are
// cancelled, and the awaiting body ends cancelled with the same reason. Without tasks the result is there at once: an empty
// tuple or vector. A void result is a std::monostate, a reference a std::reference_wrapper.

#include <roost/flow/detail/fork_call.hpp>
#include <roost/task/as_outcome.hpp>

#include <vector>

namespace roost::inline ROOST_ABI {

namespace detail {

extern const fork_rules all_rules;
extern const fork_rules settled_rules;

class all_group : public fork {
protected:
    template <class Kind>
    all_group(promise_base& me, Kind) noexcept : fork(me, all_rules) {}
    ~all_group() = default;
    [[nodiscard]] static node_name name() noexcept { return "when_all"; }
};

class settled_group : public fork {
protected:
    template <class Kind>
    settled_group(promise_base& me, Kind) noexcept : fork(me, settled_rules) {}
    ~settled_group() = default;
    [[nodiscard]] static node_name name() noexcept { return "when_all_settled"; }
};

template <class T>
[[nodiscard]] outcome<T> outcome_of(fork_slot_of<T, outcome_slot>& slot) {
    return slot.state() == ending::none ? outcome<T>() : outcome_from<T>(slot, slot.others);
}

template <class... T>
struct all_of {
    using group = all_group;
    using tasks = std::tuple<task<T>...>;
    using slots = fork_tuple<fork_slot, std::index_sequence_for<T...>, T...>;
    using result = std::tuple<kept_t<T>...>;
    template <class Group>
    [[nodiscard]] static result take(Group&, slots& from) {
        return take_each(from, std::index_sequence_for<T...>());
    }

private:
    template <std::size_t... I>
    [[nodiscard]] static result take_each(slots& from, std::index_sequence<I...>) {
        return result(from.template get<I>().take_kept()...);
    }
};
template <>
struct all_of<> {
    using group = all_group;
    using tasks = std::tuple<>;
    using slots = fork_tuple<fork_slot, std::index_sequence<>>;
    using result = std::tuple<>;
    template <class Group>
    [[nodiscard]] static result take(Group&, slots&) noexcept {
        return {};
    }
};

template <class T>
struct all_of_each {
    using group = all_group;
    using tasks = std::vector<task<T>>;
    using slots = fork_array<fork_slot, T>;
    using result = std::vector<kept_t<T>>;
    template <class Group>
    [[nodiscard]] static result take(Group&, slots& from) {
        result all;
        all.reserve(from.size());
        from.for_each([&](auto& slot) { all.push_back(slot.take_kept()); });
        return all;
    }
};

template <class... T>
struct settle_all {
    using group = settled_group;
    using tasks = std::tuple<task<T>...>;
    using slots = fork_tuple<outcome_slot, std::index_sequence_for<T...>, T...>;
    using result = std::tuple<outcome<T>...>;
    template <class Group>
    [[nodiscard]] static result take(Group&, slots& from) {
        return take_each(from, std::index_sequence_for<T...>());
    }

private:
    template <std::size_t... I>
    [[nodiscard]] static result take_each([[maybe_unused]] slots& from, std::index_sequence<I...>) {
        return result(outcome_of<T>(from.template get<I>())...);
    }
};

template <class T>
struct settle_each {
    using group = settled_group;
    using tasks = std::vector<task<T>>;
    using slots = fork_array<outcome_slot, T>;
    using result = std::vector<outcome<T>>;
    template <class Group>
    [[nodiscard]] static result take(Group&, slots& from) {
        result all;
        all.reserve(from.size());
        from.for_each([&](auto& slot) { all.push_back(outcome_of<T>(slot)); });
        return all;
    }
};

}  // namespace detail

// Two to four tasks, or a vector: reports show the place of the call.
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

// Chosen for any other argument: does not compile, and the message says why.
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
