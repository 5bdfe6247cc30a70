#pragma once

#include <roost/base/atomic.hpp>

#include <cstdint>

// What a thread keeps for the guards it makes and drops: found with one look, handed on to whoever needs it.

namespace roost::inline ROOST_ABI::detail {

class guard_table;

#if defined(ROOST_SEAM_MODEL)  // tables outlive a program's threads, so models look at one table at a time

struct thread_guards {
    [[nodiscard]] static std::uint32_t cell() noexcept { return thread_index(); }
};
[[nodiscard]] inline thread_guards guards_of_this_thread() noexcept { return {}; }

#else

struct thread_guards {
    guard_table* table = nullptr;
    std::uint32_t made = 0;
    std::uint32_t number = 0;  // thread_index() and one; 0: not asked yet; no cell has it from when the thread begins to end
    bool has_ended = false;

    // Which of a striped node's cells is this thread's.
    [[nodiscard]] std::uint32_t cell() noexcept { return number != 0 ? number - 1 : find_cell(); }
    [[nodiscard]] std::uint32_t find_cell() noexcept;
};

struct thread_guards_tag;
[[nodiscard]] inline thread_guards& guards_of_this_thread() noexcept {
    return thread_value<thread_guards_tag, thread_guards>::get();
}

#endif

}  // namespace roost::inline ROOST_ABI::detail
