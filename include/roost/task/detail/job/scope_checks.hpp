#pragma once

// Mistakes in the use of scopes that no compiler finds. The messages are in src/task/mistakes.cpp.

#include <roost/task/detail/job/scope_core.hpp>

namespace roost::inline ROOST_ABI::detail {

// Ends the program if the task refers to a temporary of the body that launches it: that is gone when the job runs.
[[gnu::cold]] void refuse_borrowed(const scope_core& in, const void* argument, node_name name, site where) noexcept;
// argument: what the task's frame refers to.
inline void check_arguments(const scope_core& in, const void* argument, node_name name, start_mode how,
                            site where) noexcept {
    if (argument != nullptr && how != start_mode::immediate) [[unlikely]] {
        refuse_borrowed(in, argument, name, where);
    }
}
[[noreturn, gnu::cold]] void refuse_ended_scope() noexcept;
[[gnu::cold]] void report_refused_launch(const scope_core& in, node_name name, site where) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
