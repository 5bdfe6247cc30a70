#pragma once

// What a task can await, what awaiting it returns, and the tasks that await it.

#include <roost/exec/detail/awaitable.hpp>
#include <roost/task/task.hpp>

#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

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

}  // namespace roost::inline ROOST_ABI::detail
