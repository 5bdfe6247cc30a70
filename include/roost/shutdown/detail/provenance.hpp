#pragma once

#include <roost/shutdown/detail/guard_slots.hpp>
#include <roost/shutdown/tracking.hpp>

#include <optional>

// The tables of all threads.

namespace roost::inline ROOST_ABI::detail {

inline constexpr std::uint32_t not_sampled = ~0U;

#if defined(ROOST_SEAM_MODEL)  // tables outlive a program's threads, so models look at one table at a time

[[nodiscard]] inline guard_slot* record_guard(const void*, site) noexcept { return nullptr; }
[[nodiscard]] inline std::uint32_t sampled_thread() noexcept { return not_sampled; }

#else

struct provenance_tag;
struct this_threads_table {
    guard_table* table = nullptr;
    bool has_ended = false;
    std::uint32_t guards = 0;
};

[[nodiscard]] std::uint32_t notice_own_guards() noexcept;

// Every 64th time a thread asks: its index. Notices a few of its guards then.
[[nodiscard]] inline std::uint32_t sampled_thread() noexcept {
    const std::uint32_t n = ++thread_value<provenance_tag, this_threads_table>::get().guards;
    return (n & 63U) != 0 ? not_sampled : notice_own_guards();
}

extern atomic<guard_tracking> tracking_now;
[[nodiscard]] guard_slot* record_first_guard(const void* owner, site where) noexcept;

// Null when nothing is recorded: tracking is off, or there is no memory.
[[nodiscard]] inline guard_slot* record_guard(const void* owner, site where) noexcept {
    const guard_tracking mode = tracking_now.load(mo::relaxed);  // T1
    if (mode == guard_tracking::off) {
        return nullptr;
    }
    guard_table* table = thread_value<provenance_tag, this_threads_table>::get().table;
    if (table == nullptr) [[unlikely]] {
        return record_first_guard(owner, where);
    }
    guard_slot* s = table->free_slot();
    if (s != nullptr) [[likely]] {
        std::int64_t since = 0;
        if (mode != guard_tracking::sites) {
            since = (mode == guard_tracking::exact ? now() : coarse_now()).time_since_epoch().count();
        }
        s->take(owner, where, since);
    }
    return s;
}

#endif

// Since when, as far as it was recorded: taken, or noticed first, when it is at least that old.
[[nodiscard]] std::optional<duration> age_of(std::int64_t since, time_point at) noexcept;
void notice_all_guards() noexcept;

using slot_function = void (*)(void* context, const guard_slot::copy& c);
void for_each_guard(void* context, slot_function fn);  // notices them afterwards
[[nodiscard]] std::size_t recorded_capacity() noexcept;  // slots in all tables

}  // namespace roost::inline ROOST_ABI::detail
