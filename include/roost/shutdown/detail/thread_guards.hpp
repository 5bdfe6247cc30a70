#pragma once

#include <roost/base/atomic.hpp>

#include <cstdint>

// A thread's own data for creating and dropping guards. Looked up once per call and passed on.

namespace roost::inline ROOST_ABI::detail {

class guard_table;

#if defined(ROOST_SEAM_MODEL)  // tables outlive a program's threads, so each model tests a table of its own

struct thread_guards {
    [[nodiscard]] static std::uint32_t cell() noexcept { return thread_index(); }
};
[[nodiscard]] inline thread_guards guards_of_this_thread() noexcept { return {}; }

#else

struct thread_guards {
    guard_table* table = nullptr;
    std::uint32_t made = 0;
    std::uint32_t number = 0;  // thread_index() + 1; 0: not looked up yet; ~0 while the thread ends: no cell
    bool has_ended = false;

    // The index of this thread's cell in a striped node.
    [[nodiscard]] std::uint32_t cell() noexcept { return number != 0 ? number - 1 : find_cell(); }
    [[nodiscard]] std::uint32_t find_cell() noexcept;
};

struct thread_guards_tag;
[[nodiscard]] inline thread_guards& guards_of_this_thread() noexcept {
    return thread_value<thread_guards_tag, thread_guards>::get();
}

#endif

}  // namespace roost::inline ROOST_ABI::detail
