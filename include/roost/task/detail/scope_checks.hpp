#pragma once

// Mistakes in the use of scopes that no compiler finds. The messages are in src/task/mistakes.cpp.

#include <roost/task/detail/scope_core.hpp>

namespace roost::inline ROOST_ABI::detail {

// Ends the program if the task refers to a temporary of the body that launches it: that is gone when the job runs.
[[gnu::cold]] void refuse_borrowed(promise_base& frame, node_name name, start_mode how, site where) noexcept;
inline void check_arguments(promise_base& frame, node_name name, start_mode how, site where) noexcept {
    if (frame.borrowed() != nullptr) [[unlikely]] {
        refuse_borrowed(frame, name, how, where);
    }
}
[[noreturn, gnu::cold]] void refuse_ended_scope() noexcept;
[[gnu::cold]] void report_refused_launch(const scope_core& in, node_name name, site where) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
