#pragma once

// A barrier as a value with pure transitions; committed under the barrier's lock.
//
// I1       remaining is 0 only when all participants have dropped out

#include <roost/base/config.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

struct barrier_state {
    std::uint32_t expected = 0;   // participants of the next phase
    std::uint32_t remaining = 0;  // arrivals missing in this one
    std::uint32_t phase = 0;

    friend constexpr bool operator==(const barrier_state&, const barrier_state&) noexcept = default;
};

[[nodiscard]] constexpr bool invariant(const barrier_state& s) noexcept { return s.remaining > 0 || s.expected == 0; }

// One arrival. The last one of a phase begins the next phase.
[[nodiscard]] constexpr barrier_state arrived(barrier_state s) noexcept {
    if (--s.remaining == 0) {
        s.remaining = s.expected;
        ++s.phase;
    }
    return s;
}
[[nodiscard]] constexpr barrier_state dropped(barrier_state s) noexcept {
    --s.expected;
    return arrived(s);
}

}  // namespace roost::inline ROOST_ABI::detail
