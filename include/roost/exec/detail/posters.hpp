#pragma once

#include <roost/base/atomic.hpp>

#include <cstdint>

// Counts the threads inside a call that hands something to an executor and touches the executor afterwards, to wake one of its
// threads. What was handed over may run meanwhile and destroy the executor, so the executor's destructor waits for them.
//
//   caller:      enter();  push, store or close;  wake;  leave(), the last touch
//   destructor:  wait_until_none(), after it has seen the last thing that was handed over
//
// A destructor that has not seen what was handed over does not wait for the caller. Then the call races with the destructor,
// which no executor allows.
//
// id  operation                order    pairs  carries                                                      fails in
// O1  enter: fetch_add         relaxed  -      nothing: what is handed over next carries it                 (floor)
// O2  leave: fetch_sub         release  O3     the caller's last touch, before the executor is freed        posters_model: end_waits
// O3  wait_until_none: load    acquire  O2     the callers' last touches                                    posters_model: end_waits

namespace roost::inline ROOST_ABI::detail {

class posters {
public:
    void enter() noexcept { inside_.fetch_add(1, mo::relaxed); }  // O1
    void leave() noexcept { inside_.fetch_sub(1, mo::release); }  // O2

    // Polls: leave() wakes no waiter, because a post is over in a moment.
    void wait_until_none() noexcept {
        while (const std::uint32_t seen = inside_.load(mo::acquire)) {  // O3
            wait_briefly(inside_, seen);
        }
    }

private:
    atomic<std::uint32_t> inside_{0};
};

// Enters for the length of a scope.
class posting {
public:
    explicit posting(posters& to) noexcept : to_(to) { to_.enter(); }
    posting(const posting&) = delete;
    posting& operator=(const posting&) = delete;
    ~posting() { to_.leave(); }

private:
    posters& to_;
};

}  // namespace roost::inline ROOST_ABI::detail
