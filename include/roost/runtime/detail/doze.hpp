#pragma once

// A watcher that goes to sleep, and those who begin something meanwhile: one of them sees the other.
//
//   the watcher:   fall(), then the last look at what they do; nothing: sleep
//   the others:    begin, where the watcher looks; then is_on(): ring
//
// The barrier pair puts each one's look behind what he has said before. Without it (an old kernel) the watcher may have missed
// somebody, so it must not sleep for ever: sleeps_safely().
//
// id  operation     order    pairs  carries                                 fails in
// K1  fall: store   relaxed  K2     nothing: the heavy barrier follows      (floor)
// K2  is_on: load   relaxed  K1     nothing: the light barrier comes first  (floor)
// K5  wake          relaxed  -      the watcher's own                       (floor)

#include <roost/base/atomic.hpp>

namespace roost::inline ROOST_ABI::detail {

class doze {
public:
    // By the watcher.
    void fall() noexcept {
        on_.store(true, mo::relaxed);  // K1
        if (sleeps_safely()) {
            heavy_barrier();
        }
    }
    [[nodiscard]] static bool sleeps_safely() noexcept { return has_heavy_barrier(); }
    // Says whether it was dozing.
    [[nodiscard]] bool wake() noexcept {
        const bool was_on = on_.load(mo::relaxed);  // K5
        if (was_on) {
            on_.store(false, mo::relaxed);  // K5
        }
        return was_on;
    }

    // By the others, after they have begun.
    [[nodiscard]] bool is_on() const noexcept {
        light_barrier();
        return on_.load(mo::relaxed);  // K2
    }

private:
    atomic<bool> on_{false};
};

}  // namespace roost::inline ROOST_ABI::detail
