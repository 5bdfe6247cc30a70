#pragma once

// as_task() for children, which may outlive the caller's objects, and for many at once.

#include <roost/task/as_task.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

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

}  // namespace roost::inline ROOST_ABI::detail
