#pragma once

// Several tasks at once, every result wanted.
//
//   auto [user, news] = co_await when_all(load_user(id), load_news());      a tuple, in order
//   std::vector<row> rows = co_await when_all(std::move(queries));          a vector of tasks: a vector of results
//   auto each = co_await when_all_settled(ping(a), ping(b));                outcomes: nothing fails, nothing is cancelled
//
// Each task is a child of its own. when_all fails fast: the first failure cancels the others, which are awaited, and is
// thrown with its own type. If a task ends cancelled there is no result: the others are cancelled, and the awaiting body ends
// cancelled with its reason. Of nothing, the result is there at once: an empty tuple or vector. A void result is a
// std::monostate, a reference a std::reference_wrapper.

#include <roost/task/as_outcome.hpp>
#include <roost/task/checkpoint.hpp>
#include <roost/task/detail/policy_scope.hpp>

#include <vector>

namespace roost::inline ROOST_ABI {

namespace detail {

template <class Slots, class... T, std::size_t... I>
void launch_into(scope& s, std::vector<job>& jobs, Slots& slots, std::index_sequence<I...>, task<T>&... tasks) {
    jobs.reserve(sizeof...(T));
    (jobs.push_back(launch_in(s, "one of all", keep_result<T>(std::get<I>(slots), std::move(tasks)))), ...);
}

template <class... T>
task<> start_all(scope& s, std::tuple<std::optional<kept_t<T>>...>& slots, std::vector<job>& jobs, task<T>... tasks) {
    launch_into(s, jobs, slots, std::index_sequence_for<T...>(), tasks...);
    co_return;
}

template <class T>
task<> start_each(scope& s, std::vector<std::optional<kept_t<T>>>& slots, std::vector<job>& jobs,
                  std::vector<task<T>> tasks) {
    jobs.reserve(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        jobs.push_back(launch_in(s, "one of all", keep_result<T>(slots[i], std::move(tasks[i]))));
    }
    co_return;
}

// How t ended, in the slot. Only the job's own cancellation is not seen.
template <class T>
task<> keep_outcome(outcome<T>& slot, task<T> t) {
    slot = co_await as_outcome(std::move(t));
}

template <class Slots, class... T, std::size_t... I>
void launch_settling(scope& s, Slots& slots, std::index_sequence<I...>, task<T>&... tasks) {
    (static_cast<void>(launch_in(s, "one of all", keep_outcome<T>(std::get<I>(slots), std::move(tasks)))), ...);
}

template <class... T>
task<> start_settling(scope& s, std::tuple<outcome<T>...>& slots, task<T>... tasks) {
    launch_settling(s, slots, std::index_sequence_for<T...>(), tasks...);
    co_return;
}

template <class T>
task<> start_settling_each(scope& s, std::vector<outcome<T>>& slots, std::vector<task<T>> tasks) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        launch_in(s, "one of all", keep_outcome<T>(slots[i], std::move(tasks[i])));
    }
    co_return;
}

template <class... T, std::size_t... I>
[[nodiscard]] bool all_there(const std::tuple<std::optional<T>...>& slots, std::index_sequence<I...>) noexcept {
    return (std::get<I>(slots).has_value() && ...);
}
template <class... T, std::size_t... I>
[[nodiscard]] std::tuple<T...> take_all(std::tuple<std::optional<T>...>& slots, std::index_sequence<I...>) {
    return std::tuple<T...>(std::move(*std::get<I>(slots))...);
}

template <class... T>
task<std::tuple<kept_t<T>...>> all_of(site where, task<T>... tasks) {
    using slots_type = std::tuple<std::optional<kept_t<T>>...>;
    slots_type slots;
    std::vector<job> jobs;
    using start_function = task<> (*)(scope&, slots_type&, std::vector<job>&, task<T>...);
    policy_scope<start_function, std::reference_wrapper<slots_type>, std::reference_wrapper<std::vector<job>>, task<T>...>
        all(need_all_policy, "when_all", where, &start_all<T...>, std::ref(slots), std::ref(jobs), std::move(tasks)...);
    co_await std::move(all);
    if (!all_there(slots, std::index_sequence_for<T...>())) {
        co_await end_cancelled(first_cancellation(jobs));
    }
    co_return take_all(slots, std::index_sequence_for<T...>());
}

template <class T>
task<std::vector<kept_t<T>>> all_of_each(site where, std::vector<task<T>> tasks) {
    using slots_type = std::vector<std::optional<kept_t<T>>>;
    slots_type slots(tasks.size());
    std::vector<job> jobs;
    using start_function = task<> (*)(scope&, slots_type&, std::vector<job>&, std::vector<task<T>>);
    policy_scope<start_function, std::reference_wrapper<slots_type>, std::reference_wrapper<std::vector<job>>,
                 std::vector<task<T>>>
        all(need_all_policy, "when_all", where, &start_each<T>, std::ref(slots), std::ref(jobs), std::move(tasks));
    co_await std::move(all);
    std::vector<kept_t<T>> values;
    values.reserve(slots.size());
    for (auto& slot : slots) {
        if (!slot) {
            co_await end_cancelled(first_cancellation(jobs));
        }
        values.push_back(std::move(*slot));
    }
    co_return values;
}

template <class... T>
task<std::tuple<outcome<T>...>> settle_all(site where, task<T>... tasks) {
    using slots_type = std::tuple<outcome<T>...>;
    slots_type slots;
    using start_function = task<> (*)(scope&, slots_type&, task<T>...);
    policy_scope<start_function, std::reference_wrapper<slots_type>, task<T>...> all(
        told_policy, "when_all_settled", where, &start_settling<T...>, std::ref(slots), std::move(tasks)...);
    co_await std::move(all);
    co_await checkpoint();
    co_return slots;
}

template <class T>
task<std::vector<outcome<T>>> settle_each(site where, std::vector<task<T>> tasks) {
    std::vector<outcome<T>> slots(tasks.size());
    using start_function = task<> (*)(scope&, std::vector<outcome<T>>&, std::vector<task<T>>);
    policy_scope<start_function, std::reference_wrapper<std::vector<outcome<T>>>, std::vector<task<T>>> all(
        told_policy, "when_all_settled", where, &start_settling_each<T>, std::ref(slots), std::move(tasks));
    co_await std::move(all);
    co_await checkpoint();
    co_return slots;
}

}  // namespace detail

// Two to four, or a vector: reports say where they were written.
template <class A, class B>
[[nodiscard]] auto when_all(task<A> a, task<B> b, std::source_location where = std::source_location::current()) {
    return detail::all_of<A, B>(where, std::move(a), std::move(b));
}
template <class A, class B, class C>
[[nodiscard]] auto when_all(task<A> a, task<B> b, task<C> c, std::source_location where = std::source_location::current()) {
    return detail::all_of<A, B, C>(where, std::move(a), std::move(b), std::move(c));
}
template <class A, class B, class C, class D>
[[nodiscard]] auto when_all(task<A> a, task<B> b, task<C> c, task<D> d,
                            std::source_location where = std::source_location::current()) {
    return detail::all_of<A, B, C, D>(where, std::move(a), std::move(b), std::move(c), std::move(d));
}
template <class... T>
[[nodiscard]] auto when_all(task<T>... tasks) {
    return detail::all_of<T...>(site(), std::move(tasks)...);
}
template <class T>
[[nodiscard]] auto when_all(std::vector<task<T>> tasks, std::source_location where = std::source_location::current()) {
    return detail::all_of_each<T>(where, std::move(tasks));
}

template <class A, class B>
[[nodiscard]] auto when_all_settled(task<A> a, task<B> b, std::source_location where = std::source_location::current()) {
    return detail::settle_all<A, B>(where, std::move(a), std::move(b));
}
template <class A, class B, class C>
[[nodiscard]] auto when_all_settled(task<A> a, task<B> b, task<C> c,
                                    std::source_location where = std::source_location::current()) {
    return detail::settle_all<A, B, C>(where, std::move(a), std::move(b), std::move(c));
}
template <class A, class B, class C, class D>
[[nodiscard]] auto when_all_settled(task<A> a, task<B> b, task<C> c, task<D> d,
                                    std::source_location where = std::source_location::current()) {
    return detail::settle_all<A, B, C, D>(where, std::move(a), std::move(b), std::move(c), std::move(d));
}
template <class... T>
[[nodiscard]] auto when_all_settled(task<T>... tasks) {
    return detail::settle_all<T...>(site(), std::move(tasks)...);
}
template <class T>
[[nodiscard]] auto when_all_settled(std::vector<task<T>> tasks,
                                    std::source_location where = std::source_location::current()) {
    return detail::settle_each<T>(where, std::move(tasks));
}

}  // namespace roost::inline ROOST_ABI
