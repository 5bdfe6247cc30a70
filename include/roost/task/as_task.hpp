#pragma once

// as_task(x): returns a task that awaits x. Functions that launch, time, race or shield a task also take anything else that a
// task can await, and call as_task().
//
//   auto row = co_await fail_after(50ms, std::move(deferred_row));
//   auto first = co_await race(m.lock(), stopped.wait());
//   s.launch("inner", with_scope(serve, std::ref(port)));
//
// x is moved into the task's frame. An lvalue is referred to, and must outlive the task.

#include <roost/task/task.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI {

namespace detail {

// The result type of awaiting an A inside a task.
template <class A>
struct await_result {
    using type = decltype(std::declval<task_promise<void>&>().await_transform(std::declval<A>()).await_resume());
};
template <class A>
using await_result_t = typename await_result<A>::type;

// Anything that a task can await, except tasks.
template <class A>
concept waitable = !is_task<std::remove_cvref_t<A>> && (awaits_in_task<A> || is_awaiter<awaiter_of<A>>);
template <class A>
concept task_or_waitable = is_task<std::remove_cvref_t<A>> || waitable<A>;

// A namespace that argument-dependent lookup does not enter: its functions do not compete with a user's functions for our
// types.
namespace not_by_argument {
template <class A>
task<await_result_t<A>> task_of_value(A a) {
    co_return co_await static_cast<A&&>(a);
}
template <class A>
task<await_result_t<A&>> task_of_reference(A& a) {
    co_return co_await a;
}
}  // namespace not_by_argument
using namespace not_by_argument;

}  // namespace detail

template <class T>
[[nodiscard]] task<T> as_task(task<T> t) noexcept {
    return t;
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto as_task(A&& a) {
    if constexpr (std::is_lvalue_reference_v<A>) {
        return detail::task_of_reference<std::remove_reference_t<A>>(a);
    } else {
        return detail::task_of_value<A>(std::move(a));
    }
}

namespace detail {

// The result type of a task that awaits an A.
template <class A>
using task_result_t = typename decltype(roost::as_task(std::declval<A>()))::value_type;

namespace not_by_argument {

// For a child, which may outlive the caller's objects.
template <class A>
[[nodiscard]] auto as_child_task(A&& a) {
    static_assert(!std::is_lvalue_reference_v<A>,
                  "a child may outlive what it refers to, so what it awaits is moved in: launch(name, std::move(x))");
    return roost::as_task(std::forward<A>(a));
}

template <class A>
[[nodiscard]] auto as_tasks(std::vector<A> all) {
    std::vector<decltype(roost::as_task(std::declval<A>()))> tasks;
    tasks.reserve(all.size());
    for (A& a : all) {
        tasks.push_back(roost::as_task(std::move(a)));
    }
    return tasks;
}

}  // namespace not_by_argument

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
