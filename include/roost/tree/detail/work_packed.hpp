#pragma once

#include <roost/tree/detail/work_state.hpp>

// More transitions of work_state.hpp on the packed word, for the steps of nearly every climb, in a few instructions. The
// tests check that they equal the pure ones.

namespace roost::inline ROOST_ABI::detail {

// finish_drain().
[[nodiscard]] constexpr work_word after_drain(work_word w, bool is_root) noexcept {
    const work_word next = w - one_reference;
    return is_root || next >= one_unit ? next : next & ~announced_bit;
}
[[nodiscard]] constexpr work_action action_of_drain(work_word w, bool is_root) noexcept {
    return {.leave_parent = !is_root && w < one_unit && (w & announced_bit) != 0,
            .dead = after_drain(w, is_root) < one_reference};
}

// leave(), where it requires no action or only the climb to the parent.
[[nodiscard]] constexpr bool leaves_simply(work_word w, bool is_root) noexcept {
    return w >= 2 * one_unit || (!is_root && leaves_upward(w));
}
[[nodiscard]] constexpr work_word after_simple_leave(work_word w) noexcept {
    return w >= 2 * one_unit ? w - one_unit : left_upward(w);
}
[[nodiscard]] constexpr work_action action_of_simple_leave(work_word w) noexcept {
    return w >= 2 * one_unit ? work_action{} : action_of_left_upward(w);
}

}  // namespace roost::inline ROOST_ABI::detail
