#pragma once

// A watcher that goes to sleep, and workers that begin a body meanwhile: one of the two sees the other.
//
//   watcher:   fall(), then the last look at the workers; if it finds nothing: sleep
//   worker:    begin a body where the watcher looks, then is_on(): ring
//
// The barrier pair orders each side's look after its own store. Without the barrier (an old kernel) the watcher may miss a
// worker, so it must not sleep for ever: see sleeps_safely().
//
// id  operation     order    pairs  carries                                 fails in
// K1  fall: store   relaxed  K2     nothing: the heavy barrier follows      (floor)
// K2  is_on: load   relaxed  K1     nothing: the light barrier comes first  (floor)
// K5  wake          relaxed  -      the watcher's own                       (floor)

#include <roost/base/atomic.hpp>

namespace roost::inline ROOST_ABI::detail {

class doze {
public:
    // Called by the watcher.
    void fall() noexcept {
        on_.store(true, mo::relaxed);  // K1
        if (sleeps_safely()) {
            heavy_barrier();
        }
    }
    [[nodiscard]] static bool sleeps_safely() noexcept { return has_heavy_barrier(); }
    // Returns true if the watcher was dozing. Called by the watcher.
    [[nodiscard]] bool wake() noexcept {
        const bool was_on = on_.load(mo::relaxed);  // K5
        if (was_on) {
            on_.store(false, mo::relaxed);  // K5
        }
        return was_on;
    }

    // Returns true if the watcher has to be rung. Called by a worker after it has begun a body.
    [[nodiscard]] bool is_on() const noexcept {
        light_barrier();
        return on_.load(mo::relaxed);  // K2
    }

private:
    atomic<bool> on_{false};
};

}  // namespace roost::inline ROOST_ABI::detail
