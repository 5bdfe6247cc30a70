#pragma once

// The state of an Asio operation that a task awaits, and which party resumes the task.
//
// Three parties hold the awaiting frame: the thread that begins the operation, the operation's handler, and an emission of
// its cancellation signal that is under way. The last of them to leave resumes the frame; that is decided here.
//
//   begun     the initiating function has returned
//   ended     the handler was called, or was dropped
//   emitting  an emission has been posted and has not left yet; at most one
//   wanted    the highest level requested: 0 nothing, 1 stop, 2 cancel. Frozen by `ended`: a later cancel has lost
//   emitted   the highest level the signal has been emitted for
//
// Pure transitions on a plain value; state_word commits them.

#include <roost/base/detail/state_word.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

enum class wish : std::uint8_t { nothing = 0, stop = 1, cancel = 2 };

struct operation_state {
    bool begun = false;
    bool ended = false;
    bool emitting = false;
    wish wanted = wish::nothing;
    wish emitted = wish::nothing;

    [[nodiscard]] constexpr std::uint32_t pack() const noexcept {
        return (begun ? 1U : 0U) | (ended ? 2U : 0U) | (emitting ? 4U : 0U) | static_cast<std::uint32_t>(wanted) << 3U |
               static_cast<std::uint32_t>(emitted) << 5U;
    }
    [[nodiscard]] static constexpr operation_state unpack(std::uint32_t w) noexcept {
        operation_state s;
        s.begun = (w & 1U) != 0;
        s.ended = (w & 2U) != 0;
        s.emitting = (w & 4U) != 0;
        s.wanted = static_cast<wish>((w >> 3U) & 3U);
        s.emitted = static_cast<wish>((w >> 5U) & 3U);
        return s;
    }
    friend constexpr bool operator==(const operation_state&, const operation_state&) noexcept = default;
};

enum class operation_action : std::uint8_t {
    none,
    go_on,  // the caller was the last holder: the frame has to be resumed
    emit,  // the caller posts an emission, or continues the one it is in
    asked,  // a stop or cancel was requested before: an emission may be using the operation
};

using operation_step = step<operation_state, operation_action>;

// The transition that makes begun and ended true and emitting false is made by the last holder.
[[nodiscard]] constexpr operation_step begin_returned(operation_state s) noexcept {
    s.begun = true;
    if (s.ended) {
        return go(s, operation_action::go_on);
    }
    if (s.wanted > s.emitted) {
        s.emitting = true;
        return go(s, operation_action::emit);
    }
    return go(s, operation_action::none);
}

[[nodiscard]] constexpr operation_step ask(operation_state s, wish what) noexcept {
    if (s.ended || s.wanted >= what) {
        return refuse<operation_state>(operation_action::none);
    }
    s.wanted = what;
    if (!s.begun || s.emitting) {
        return go(s, operation_action::none);  // the thread that begins or emits checks again
    }
    s.emitting = true;
    return go(s, operation_action::emit);
}

[[nodiscard]] constexpr operation_step handler_left(operation_state s) noexcept {
    s.ended = true;
    return go(s, s.begun && !s.emitting ? operation_action::go_on : operation_action::none);
}

// As handler_left, but refused after a request. Without one no emission is under way, and none begins any more.
[[nodiscard]] constexpr operation_step handler_left_unasked(operation_state s) noexcept {
    return s.wanted == wish::nothing ? handler_left(s) : refuse<operation_state>(operation_action::asked);
}

// The emission runs. It emits the difference between `emitted` before and after.
[[nodiscard]] constexpr operation_step begin_emission(operation_state s) noexcept {
    if (s.ended) {
        return refuse<operation_state>(operation_action::none);
    }
    s.emitted = s.wanted;
    return go(s, operation_action::emit);
}

// The last step of an emission: leave, or emit again because more was requested meanwhile.
[[nodiscard]] constexpr operation_step end_emission(operation_state s) noexcept {
    if (!s.ended && s.wanted > s.emitted) {
        return go(s, operation_action::emit);
    }
    s.emitting = false;
    return go(s, s.ended ? operation_action::go_on : operation_action::none);
}

// The emission was destroyed unrun: the context is being destroyed, and so will be the handler.
[[nodiscard]] constexpr operation_step emission_dropped(operation_state s) noexcept {
    s.emitting = false;
    s.emitted = s.wanted;
    return go(s, s.ended ? operation_action::go_on : operation_action::none);
}

}  // namespace roost::inline ROOST_ABI::detail
