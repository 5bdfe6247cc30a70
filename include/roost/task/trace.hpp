#pragma once

// co_await trace("loading user 7", load(7)): if the task fails, adds the text and the site to the notes of the job, innermost
// first. The error keeps its type and propagates. job::notes() and reports show the notes.

#include <roost/task/checkpoint.hpp>

#include <string>

namespace roost::inline ROOST_ABI {

namespace detail {
void add_trace(job_core& to, const std::string& text, site where) noexcept;
}

template <class T>
task<T> trace(std::string text, task<T> t, std::source_location where = std::source_location::current()) {
    const job me = co_await this_job();
    try {
        co_return co_await std::move(t);
    } catch (...) {
        detail::add_trace(*me.core(), text, where);
        throw;
    }
}

}  // namespace roost::inline ROOST_ABI
