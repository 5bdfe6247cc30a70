#pragma once

#include <roost/base/atomic.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

// A cell that commits pure transitions.
//
// A state is a plain value with `pack()` and `unpack(word)`. A transition is a pure function from a state to a `step`: the
// next state, or none to refuse, and an action: the effect that the caller runs after the commit. Because decide functions
// are pure, `static_assert`s can try them and a search can enumerate them, without threads.
//
// Trap: a refused step only loads, so it publishes nothing. A no-op that must publish writes returns the same state as `next`.
//
// id  operation            order             pairs  carries                                        fails in
// S1  transition: load     acquire           S2     what the last committer wrote before its step  state_word_model: hand_over
// S2  transition: CAS      acq_rel/acquire   S1 S2  out: caller's writes; in: last committer's     state_word_model: hand_over
//                                                   that may have come after S1's load             state_word_model: same_again
//                                                   failed: as S1                                  state_word_model: refused_again
// S3  peek: load           acquire           S2     what the last committer wrote before its step  state_word_model: peek

namespace roost::inline ROOST_ABI::detail {

template <class State, class Action>
struct step {
    std::optional<State> next;
    Action action;
};

template <class State, class Action>
[[nodiscard]] constexpr step<State, Action> go(State next, Action action) noexcept {
    return {std::optional<State>(next), action};
}
template <class State, class Action>
[[nodiscard]] constexpr step<State, Action> refuse(Action action) noexcept {
    return {std::nullopt, action};
}

template <class State>
concept word_state = requires(const State& s) {
    { s.pack() } noexcept;
    { State::unpack(s.pack()) } noexcept -> std::same_as<State>;
};

template <word_state State>
class state_word {
public:
    using word_type = decltype(std::declval<const State&>().pack());

    constexpr explicit state_word(State initial = State{}) noexcept : word_(initial.pack()) {}

    // Commits decide(state), or nothing if it refuses. Returns its action. decide may run more than once, so it must be pure.
    template <class Decide>
    [[nodiscard]] auto transition(Decide decide) noexcept {
        word_type seen = word_.load(mo::acquire);  // S1
        for (;;) {
            auto s = decide(State::unpack(seen));
            if (!s.next || word_.compare_exchange_weak(seen, s.next->pack(), mo::acq_rel, mo::acquire)) {  // S2
                return s.action;
            }
        }
    }

    [[nodiscard]] State peek() const noexcept { return State::unpack(word_.load(mo::acquire)); }  // S3

private:
    atomic<word_type> word_;
};

}  // namespace roost::inline ROOST_ABI::detail
