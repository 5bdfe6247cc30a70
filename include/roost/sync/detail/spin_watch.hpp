#pragma once

// How long a thread spins before it sleeps. Sleeping and being woken costs microseconds on both sides. Spinning for about that
// long pays if the wake comes soon, and is wasted otherwise. Each thread adapts: a success doubles its next spin, a failure
// halves it, down to a minimum. Every few failures it tries the full time again: two threads that answer each other quickly,
// but have both begun to sleep, would otherwise keep sleeping.

#include <roost/base/atomic.hpp>
#include <roost/sync/detail/limits.hpp>

#include <algorithm>
#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// A thread's adapted spin time in nanoseconds, as a value with pure transitions.
struct spin_history {
    std::int32_t ready_to_spend = spin_most;
    std::uint32_t failures = 0;  // in a row

    friend constexpr bool operator==(const spin_history&, const spin_history&) noexcept = default;
};

[[nodiscard]] constexpr std::int32_t budget(spin_history h) noexcept {
    const bool tries_again = h.failures % spin_probe_every == spin_probe_every - 1;
    return tries_again ? spin_most : h.ready_to_spend;
}
[[nodiscard]] constexpr spin_history after_success(spin_history h) noexcept {
    return {std::min(h.ready_to_spend * 2, spin_most), 0};
}
[[nodiscard]] constexpr spin_history after_failure(spin_history h) noexcept {
    return {std::max(h.ready_to_spend / 2, spin_least), h.failures + 1};
}

class spin_watch {
public:
    // Never spins past the deadline.
    explicit spin_watch(time_point deadline) noexcept : deadline_(deadline) {}

    // Pauses. Returns false when the thread should sleep.
    [[nodiscard]] bool pause(int times) noexcept {
        if (spin_most == 0) {
            return false;
        }
        for (int i = 0; i < times; ++i) {
            spin_hint();
        }
        pauses_ += times;
        return pauses_ < next_look_ || look();
    }
    // Called when the wait ended while spinning.
    void succeeded() noexcept {
        if (pauses_ >= first_look) {
            note_success();
        }
    }

private:
    static constexpr int first_look = 32;

    [[nodiscard]] bool look() noexcept;
    static void note_success() noexcept;

    time_point deadline_;
    time_point until_{};
    int pauses_ = 0;
    int next_look_ = first_look;
};

}  // namespace roost::inline ROOST_ABI::detail
