#pragma once

// co_await with_note("loading user 7", load(7)): awaits a task and returns its result. If the task fails, adds the text and
// the site to the notes of the job, innermost first. The error keeps its type and propagates. job::notes() and reports show
// the notes.

#include <roost/task/as_task.hpp>
#include <roost/task/detail/job/job_extras.hpp>
#include <roost/task/this_task.hpp>

#include <source_location>
#include <string>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
task<T> with_note(std::string text, task<T> t, std::source_location where = std::source_location::current()) {
    const job me = co_await this_job();
    try {
        co_return co_await std::move(t);
    } catch (...) {
        detail::add_note_at(*detail::task_access::core_of(me), text, where);
        throw;
    }
}
// As above, for anything else that a task can await.
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto with_note(std::string text, A&& a, std::source_location where = std::source_location::current()) {
    return with_note(std::move(text), roost::as_task(std::forward<A>(a)), where);
}

}  // namespace roost::inline ROOST_ABI
