#pragma once

// run(task): the shortest way into Roost.
//
//   int main() { return roost::run(serve()); }
//
// Creates a runtime, runs the task and everything it starts to the end, and ends the runtime. Returns the task's value or
// throws its error. Throws task_cancelled if the task ended cancelled. Blocks the calling thread. Throws
// error(would_deadlock) in a job.

#include <roost/runtime/runtime.hpp>
#include <roost/task/block_on.hpp>

#include <source_location>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
T run(task<T> t, const runtime_options& options = runtime_options(),
      std::source_location from = std::source_location::current()) {
    runtime rt(options);
    return block_on(rt, std::move(t), "main", from);
}

// As above, on an existing runtime. Throws error(would_deadlock) also on a thread of that runtime.
template <class T>
T run(runtime& on, task<T> t, std::source_location from = std::source_location::current()) {
    return block_on(on, std::move(t), "main", from);
}

// As above, for anything else that a task can await.
template <class A>
    requires detail::waitable<A>
decltype(auto) run(A&& a, const runtime_options& options = runtime_options(),
                   std::source_location from = std::source_location::current()) {
    return run(roost::as_task(std::forward<A>(a)), options, from);
}
template <class A>
    requires detail::waitable<A>
decltype(auto) run(runtime& on, A&& a, std::source_location from = std::source_location::current()) {
    return run(on, roost::as_task(std::forward<A>(a)), from);
}

}  // namespace roost::inline ROOST_ABI
