#pragma once

// The phases as a value with pure transitions. The conductor feeds it events and carries out the effects; it decides
// nothing itself. Time is not part of it: a spent budget is an event.
//
//   running --asked--> lame_duck --budget--> stop_intake --done|budget--> drain --done--------------> release --done--> exit
//   running|lame_duck --main ended--> stop_intake                          |                             ^
//                                                                          \--budget--> cancel --done----|
//   any before cancel --second signal|cancel asked--> cancel                             \--budget--> abort --done--/
//                                                                                                       \--budget--> forced
//   release --budget--> release, resources cancelled --budget--> forced      any but forced --third signal|total--> forced
//
// I1  the phase never goes back, and forced is final
// I2  an effect is requested once
// I3  release is entered only without work; exit only after release
// I4  work is cancelled only by a second signal, a request or a spent budget

#include <roost/service/phase.hpp>

namespace roost::inline ROOST_ABI::service::detail {

enum class phase_event : std::uint8_t {
    signal,  // SIGTERM or SIGINT
    asked,  // the program requests shutdown
    cancel_asked,  // the program requests cancellation
    main_ended,  // the root task returned
    phase_done,  // what this phase waits for has happened
    budget_spent,  // of this phase
    total_spent,  // the hard deadline
};
inline constexpr unsigned phase_event_count = 7;

enum class phase_effect : std::uint16_t {
    none = 0,
    not_ready = 1,
    stop_intake = 2,
    stop_work = 4,
    cancel_work = 8,
    abort_work = 16,
    stop_resources = 32,
    cancel_resources = 64,
    finish = 128,
    die = 256,
};
[[nodiscard]] constexpr phase_effect operator|(phase_effect a, phase_effect b) noexcept {
    return static_cast<phase_effect>(static_cast<std::uint16_t>(a) | static_cast<std::uint16_t>(b));
}
[[nodiscard]] constexpr phase_effect without(phase_effect all, phase_effect one) noexcept {
    return static_cast<phase_effect>(static_cast<std::uint16_t>(all) & ~static_cast<std::uint16_t>(one));
}
[[nodiscard]] constexpr bool contains(phase_effect all, phase_effect one) noexcept {
    return (static_cast<std::uint16_t>(all) & static_cast<std::uint16_t>(one)) != 0;
}

struct phase_state {
    phase at = phase::running;
    std::uint8_t signals = 0;  // up to 3: the third forces the end, and further ones do not count
    bool resources_cancelled = false;
    bool by_signal = false;  // cancelled because of the second signal
    bool by_deadline = false;  // cancelled because a budget was spent
    bool by_request = false;  // cancelled because the program asked for it

    friend constexpr bool operator==(const phase_state&, const phase_state&) noexcept = default;
    [[nodiscard]] constexpr bool was_cancelled() const noexcept { return by_signal || by_deadline || by_request; }
};

class [[nodiscard]] phase_step {
public:
    constexpr phase_step(phase_state next, phase_effect effect) noexcept : next_(next), effect_(effect) {}
    [[nodiscard]] constexpr phase_state next() const noexcept { return next_; }
    [[nodiscard]] constexpr phase_effect effect() const noexcept { return effect_; }

private:
    phase_state next_;
    phase_effect effect_;
};

[[nodiscard]] constexpr phase_step stays(phase_state s) noexcept { return {s, phase_effect::none}; }

[[nodiscard]] constexpr phase_step moves(phase_state s, phase to, phase_effect effect) noexcept {
    s.at = to;
    return {s, effect};
}

[[nodiscard]] constexpr phase_step force(phase_state s) noexcept { return moves(s, phase::forced, phase_effect::die); }

[[nodiscard]] constexpr phase_step ask(phase_state s) noexcept {
    return s.at == phase::running ? moves(s, phase::lame_duck, phase_effect::not_ready) : stays(s);
}

// `by` is the mark to set.
[[nodiscard]] constexpr phase_step cancel(phase_state s, bool phase_state::* by) noexcept {
    if (s.at < phase::cancel) {
        s.*by = true;
        const phase_effect also = s.at == phase::running ? phase_effect::not_ready : phase_effect::none;
        return moves(s, phase::cancel, phase_effect::cancel_work | also);
    }
    if (s.at == phase::release && !s.resources_cancelled) {
        s.*by = true;
        s.resources_cancelled = true;
        return {s, phase_effect::cancel_resources};
    }
    return stays(s);
}

[[nodiscard]] constexpr phase_step after_signal(phase_state s) noexcept {
    switch (++s.signals) {
        case 1: return ask(s);
        case 2: return cancel(s, &phase_state::by_signal);
        default: return force(s);
    }
}

[[nodiscard]] constexpr phase_step after_main_ended(phase_state s) noexcept {
    if (s.at > phase::lame_duck) {
        return stays(s);
    }
    const phase_effect also = s.at == phase::running ? phase_effect::not_ready : phase_effect::none;
    return moves(s, phase::stop_intake, phase_effect::stop_intake | also);
}

[[nodiscard]] constexpr phase_step after_done(phase_state s) noexcept {
    switch (s.at) {
        case phase::stop_intake: return moves(s, phase::drain, phase_effect::stop_work);
        case phase::drain:
        case phase::cancel:
        case phase::abort: return moves(s, phase::release, phase_effect::stop_resources);
        case phase::release: return moves(s, phase::exit, phase_effect::finish);
        default: return stays(s);
    }
}

[[nodiscard]] constexpr phase_step after_budget(phase_state s) noexcept {
    switch (s.at) {
        case phase::lame_duck: return moves(s, phase::stop_intake, phase_effect::stop_intake);
        case phase::stop_intake: return moves(s, phase::drain, phase_effect::stop_work);
        case phase::drain: return cancel(s, &phase_state::by_deadline);
        case phase::cancel: return moves(s, phase::abort, phase_effect::abort_work);
        case phase::abort: return force(s);
        case phase::release: return s.resources_cancelled ? force(s) : cancel(s, &phase_state::by_deadline);
        default: return stays(s);
    }
}

[[nodiscard]] constexpr phase_step advance(phase_state s, phase_event e) noexcept {
    if (s.at == phase::forced) {
        return stays(s);
    }
    switch (e) {
        case phase_event::signal: return after_signal(s);
        case phase_event::asked: return ask(s);
        case phase_event::cancel_asked: return cancel(s, &phase_state::by_request);
        case phase_event::main_ended: return after_main_ended(s);
        case phase_event::phase_done: return after_done(s);
        case phase_event::budget_spent: return after_budget(s);
        case phase_event::total_spent: return s.at == phase::running ? stays(s) : force(s);
    }
    return stays(s);
}

// Returns the exit code of a forced end that no signal asked for. `failure` is clean, main_failed or component_failed.
[[nodiscard]] constexpr int forced_exit_code(int failure) noexcept {
    return failure != exit_code::clean ? failure : exit_code::work_cancelled;
}

// Returns the exit code. `own` is the root task's number. A forced end dies by its signal; its code is 128 + n where that
// fails. A failure outranks what shutdown did afterwards: service managers take 124 for a success, and would not restart.
[[nodiscard]] constexpr int exit_code_of(phase_state s, int signal, bool work_lost, int failure, int own) noexcept {
    if (work_lost) {
        return exit_code::broken_invariant;
    }
    if (s.at == phase::forced) {
        return signal != 0 ? exit_code::signal_base + signal : forced_exit_code(failure);
    }
    if (failure != exit_code::clean) {
        return failure;
    }
    if (s.by_deadline) {
        return exit_code::work_cancelled;
    }
    if (s.by_signal) {
        return exit_code::signal_base + signal;
    }
    return own;
}

}  // namespace roost::inline ROOST_ABI::service::detail
