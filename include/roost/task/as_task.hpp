#pragma once

// as_task(x): returns a task that awaits x. Functions that launch, time, race or shield a task call it. So they also accept
// anything else that a task can await.
//
//   auto row = co_await fail_after(50ms, std::move(deferred_row));
//   auto first = co_await race(m.lock(), stopped.wait());
//   s.launch("inner", with_scope(serve, std::ref(port)));
//
// An rvalue x is moved into the task's frame. For an lvalue x the task keeps a reference; x must outlive the task.

#include <roost/task/detail/frame/waitable.hpp>
#include <roost/task/task.hpp>

#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

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

}  // namespace roost::inline ROOST_ABI

// as_task() for children and for many at once.
#include <roost/task/detail/frame/child_task.hpp>
