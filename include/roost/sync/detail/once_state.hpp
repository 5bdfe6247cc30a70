#pragma once

// The word of once, as a value with pure transitions.
//
// word     bit 0..1 phase: fresh, running (a caller has the turn), done      bit 2 waited: the list is not empty
//
//   fresh --enter--> running                              the caller has the turn
//   running --enter--> running, waited                    the caller queues
//   running --succeeded--> done                           effect: wake every waiter
//   running, not waited --failed--> fresh
//   running, waited --failed--> running [, waited]        effect: the first waiter has the turn
//   done --enter--> done                                  nothing to wait for
//
// I1       waited implies running

#include <roost/base/config.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

struct once_state {
    enum phase_type : std::uint8_t { fresh, running, done };
    phase_type phase = fresh;
    bool waited = false;

    [[nodiscard]] constexpr std::uint32_t pack() const noexcept {
        return static_cast<std::uint32_t>(phase) + (waited ? 4U : 0U);
    }
    [[nodiscard]] static constexpr once_state unpack(std::uint32_t word) noexcept {
        return {static_cast<phase_type>(word & 3U), (word & 4U) != 0};
    }
    friend constexpr bool operator==(const once_state&, const once_state&) noexcept = default;
};

[[nodiscard]] constexpr bool invariant(once_state s) noexcept { return !s.waited || s.phase == once_state::running; }

[[nodiscard]] constexpr once_state enter(once_state s) noexcept {
    switch (s.phase) {
        case once_state::fresh: return {once_state::running, false};
        case once_state::running: return {once_state::running, true};
        default: return s;
    }
}
[[nodiscard]] constexpr once_state succeed() noexcept { return {once_state::done, false}; }
// succeed() and fail() are called by the owner of the turn. heirs: the number of waiters; the first of them gets the turn.
[[nodiscard]] constexpr once_state fail(std::uint32_t heirs) noexcept {
    return heirs == 0 ? once_state{once_state::fresh, false} : once_state{once_state::running, heirs > 1};
}

}  // namespace roost::inline ROOST_ABI::detail
