#pragma once

// Order T1: src/shutdown/provenance.cpp.

#include <roost/shutdown/detail/guard_slots.hpp>
#include <roost/shutdown/detail/thread_guards.hpp>
#include <roost/shutdown/tracking.hpp>

#include <optional>

// The guard tables of all threads.

namespace roost::inline ROOST_ABI::detail {

#if defined(ROOST_SEAM_MODEL)

[[nodiscard]] inline guard_slot* record_guard(thread_guards&, const void*, site) noexcept { return nullptr; }
inline void count_guard(thread_guards&) noexcept {}
[[nodiscard]] inline bool is_sampled(const thread_guards&) noexcept { return false; }

#else

inline void count_guard(thread_guards& mine) noexcept { ++mine.made; }
// Returns true for every 64th guard of a thread.
[[nodiscard]] inline bool is_sampled(const thread_guards& mine) noexcept { return (mine.made & 63U) == 0; }

extern atomic<guard_tracking> tracking_now;
extern atomic<bool> any_unrecorded;
inline void note_unrecorded() noexcept {
    if (!any_unrecorded.load(mo::relaxed)) {  // T1
        any_unrecorded.store(true, mo::relaxed);  // T1
    }
}
[[nodiscard]] guard_slot* record_guard_slow(thread_guards& mine, const void* owner, site where,
                                            guard_tracking mode) noexcept;

// Requires count_guard() before. Returns null if nothing is recorded: tracking is off, or there is no memory.
[[nodiscard]] inline guard_slot* record_guard(thread_guards& mine, const void* owner, site where) noexcept {
    const guard_tracking mode = tracking_now.load(mo::relaxed);  // T1
    if (mode == guard_tracking::off) {
        note_unrecorded();
        return nullptr;
    }
    if (mode == guard_tracking::sites && mine.table != nullptr && guard_slot::fits(owner)) [[likely]] {
        guard_slot* last = mine.table->last_used();
        if (last->is_free()) [[likely]] {
            last->take(owner, where, 0, mine.made);
            return last;
        }
    }
    return record_guard_slow(mine, owner, where, mode);
}

#endif

// Notices a few guards of the calling thread, and returns the thread's index.
[[nodiscard]] std::uint32_t notice_own_guards() noexcept;

// Returns the age at `at`. Empty if no time was recorded. For a negative `since` the age is a lower bound.
[[nodiscard]] std::optional<duration> age_of(std::int64_t since, time_point at) noexcept;
// Stores the time in the slots of all guards that have none.
void notice_all_guards() noexcept;

using slot_function = void (*)(void* context, const guard_slot& slot, const guard_slot::copy& c);
void for_each_guard(void* context, slot_function fn);  // also notices each guard, after copying its slot
// Returns true if a guard without a slot was ever created.
[[nodiscard]] bool may_miss_guards() noexcept;
[[nodiscard]] std::size_t recorded_capacity() noexcept;  // slots in all tables

}  // namespace roost::inline ROOST_ABI::detail
