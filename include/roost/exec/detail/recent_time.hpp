#pragma once

#include <roost/base/atomic.hpp>

#include <cstdint>
#include <optional>

// The approximate time for one plain load. Threads that read the clock anyway publish it for the others. For the ages in
// reports, where a few milliseconds do not matter and a clock read per job would.
//
// word     1 no thread publishes the time at the moment: stamp() reads the clock; else ticks of about a millisecond
//
// id  operation            order    pairs  carries                             fails in
// R1  stamp: load          relaxed  R2     nothing but the number              (floor)
// R2  tell, rest: store    relaxed  R1     nothing but the number              (floor)

namespace roost::inline ROOST_ABI::detail {

class recent_time {
public:
    static constexpr unsigned tick_bits = 20;  // nanoseconds to ticks, without a division

    static void tell(time_point t) noexcept {
        if constexpr (is_published) {
            word().store(ticks_of(t), mo::relaxed);  // R2
        }
    }
    // Called before a thread that publishes sleeps for long.
    static void rest() noexcept {
        if constexpr (is_published) {
            word().store(resting, mo::relaxed);  // R2
        }
    }
    // Returns the current tick. Returns 0, unknown, in models.
    [[nodiscard]] static std::uint32_t stamp() noexcept {
        if constexpr (!is_published) {
            return unknown;
        } else {
            const std::uint32_t seen = word().load(mo::relaxed);  // R1
            return seen == resting ? ticks_of(coarse_now()) : seen;
        }
    }
    // Returns how long before `at` the stamp was taken, and 0 for a stamp slightly after it. Wraps after seven weeks.
    [[nodiscard]] static std::optional<duration> age(std::uint32_t stamp, time_point at) noexcept {
        if (stamp == unknown) {
            return std::nullopt;
        }
        const std::uint32_t ticks = ticks_of(at) - stamp;
        return duration(ticks < largest_age ? std::int64_t(ticks) << tick_bits : 0);
    }

private:
#if defined(ROOST_SEAM_MODEL)
    static constexpr bool is_published = false;  // one scheduling point less in every model
#else
    static constexpr bool is_published = true;
#endif
    static constexpr std::uint32_t unknown = 0;
    static constexpr std::uint32_t resting = 1;
    static constexpr std::uint32_t largest_age = ~std::uint32_t(0) - (std::uint32_t(1) << 20U);  // about 18 minutes of lead

    static atomic<std::uint32_t>& word() noexcept {
        static constinit atomic<std::uint32_t> published{resting};
        return published;
    }
    [[nodiscard]] static std::uint32_t ticks_of(time_point t) noexcept {
        const auto ticks = static_cast<std::uint32_t>(t.time_since_epoch().count() >> tick_bits);
        return ticks > resting ? ticks : resting + 1;
    }
};

}  // namespace roost::inline ROOST_ABI::detail
