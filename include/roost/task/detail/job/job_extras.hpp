#pragma once

// Data that few jobs have: failures beside the outcome, and notes. Kept in a table beside the jobs, so that jobs without them
// pay one bit. The body owns the contents until the job is final; then they are constant.

#include <roost/base/config.hpp>
#include <roost/base/site.hpp>
#include <roost/task/detail/job/carried_failures.hpp>

#include <exception>
#include <string>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

class job_core;

class job_extras {
public:
    explicit job_extras(const job_core& of) noexcept : of_(&of) {}

    // Finds or makes the extras of a job; returns null if there is no memory. `has` is whether there are any, before and
    // after.
    [[nodiscard]] static job_extras* make(const job_core& of, bool& has) noexcept;
    [[nodiscard]] static job_extras* find(const job_core& of) noexcept;  // requires that there are some
    static void drop(const job_core& of) noexcept;

    std::vector<std::exception_ptr> suppressed;  // until the body has ended
    failure_list beside;  // from then on: all of them
    carried_failures carried;  // empty when the job is final
    std::vector<std::string> notes;

private:
    friend class extras_table;
    const job_core* of_;
    job_extras* next_ = nullptr;
};

void add_note_at(job_core& to, const std::string& text, site where) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
