#pragma once

// Is there an order of these calls, each at one moment between its call and its return, in which a sequential specification
// gives the same answers? The search of Wing and Gong: try every call that nothing unplaced has returned before.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace testing_support {

struct recorded_call {
    int what;
    int argument;
    int answer;
    long called;
    long returned;  // no_return: it never did, so it may have happened or not
};
inline constexpr long no_return = 1L << 60;

// Calls of all threads. Each thread records into places of its own; the clock is no step of the explorer's.
class history {
public:
    explicit history(std::size_t most) : calls_(most) {}
    std::size_t begin(int what, int argument = 0) {
        const std::size_t place = used_.fetch_add(1);
        calls_[place] = recorded_call{what, argument, 0, clock_.fetch_add(1), no_return};
        return place;
    }
    void end(std::size_t place, int answer) {
        calls_[place].answer = answer;
        calls_[place].returned = clock_.fetch_add(1);
    }
    // A call that does not wait. Its answer: what `call` gives, 0 if that is nothing.
    template <class Call>
    int record(int what, int argument, Call call) {
        const std::size_t place = begin(what, argument);
        int answer = 0;
        if constexpr (std::is_void_v<decltype(call())>) {
            call();
        } else {
            answer = static_cast<int>(call());
        }
        end(place, answer);
        return answer;
    }
    template <class Call>
    int record(int what, Call call) {
        return record(what, 0, std::move(call));
    }
    [[nodiscard]] std::vector<recorded_call> calls() const {
        return {calls_.begin(), calls_.begin() + static_cast<std::ptrdiff_t>(used_.load())};
    }

private:
    std::vector<recorded_call> calls_;
    std::atomic<std::size_t> used_{0};
    std::atomic<long> clock_{0};
};

namespace detail {

// Spec: bool apply(State&, const recorded_call&): whether this answer is right in this state; changes the state.
template <class State, class Apply>
bool place_rest(const std::vector<recorded_call>& calls, std::uint32_t placed, const State& now, Apply& apply) {
    long first_return = no_return;
    bool all_done = true;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if ((placed >> i & 1U) == 0) {
            first_return = calls[i].returned < first_return ? calls[i].returned : first_return;
            all_done = all_done && calls[i].returned == no_return;
        }
    }
    if (all_done) {
        return true;  // what never returned need not have happened
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if ((placed >> i & 1U) != 0 || calls[i].called > first_return) {
            continue;
        }
        State next = now;
        if (apply(next, calls[i]) && place_rest(calls, placed | 1U << i, next, apply)) {
            return true;
        }
    }
    return false;
}

}  // namespace detail

template <class State, class Apply>
bool is_linearizable(const history& h, const State& start, Apply apply) {
    return detail::place_rest(h.calls(), 0, start, apply);
}

}  // namespace testing_support
