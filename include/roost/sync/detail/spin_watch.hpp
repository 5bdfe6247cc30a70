#pragma once

// How long a thread spins before it sleeps. Going to sleep and being woken costs microseconds on both sides, so it pays to
// spin for about that long if what is waited for comes soon, and is wasted if it does not. Each thread remembers how that
// went: success doubles the time it is ready to spend next, failure halves it. At the least it looks a little while, and
// every so often it tries the full time again: two threads that answer each other quickly but have both begun to sleep would
// otherwise never find out.

#include <roost/base/atomic.hpp>
#include <roost/sync/detail/limits.hpp>

#include <algorithm>
#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// What a thread has learnt, as a value. Nanoseconds.
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
    // Not past the deadline, in any case.
    explicit spin_watch(time_point deadline) noexcept : deadline_(deadline) {}

    // Pauses; false when it is time to sleep instead.
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
    // What was waited for came while spinning.
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
