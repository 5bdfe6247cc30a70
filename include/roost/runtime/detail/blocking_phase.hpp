#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/blocking.hpp>
#include <roost/exec/executor.hpp>

#include <cstdint>

// The phase of a blocking function, so that its interrupter runs only while the function runs.
//
// States   waiting       submitted, or taken by a thread that has not begun
//          awaited       as waiting, and a canceller sleeps until the function has begun, to leave the processor to that thread
//          running       the function runs
//          interrupting  the function and the interrupter run
//          interrupted   the function runs, the interrupter has returned
//          over          the function has returned; the result is being delivered
//
//   waiting, awaited --begin--> running --end--> over
//                      running --begin_interrupt--> interrupting --end_interrupt--> interrupted --end--> over
//
// id  operation                order    pairs  carries                                             fails in
// H1  begin: exchange          release  H3     what the thread set up for the function             blocking_phase_model: interrupt_or_end
// H2  end: CAS                 acquire  H4     the interrupter's work is over before the result is delivered  blocking_phase_model: interrupt_or_end
// H3  begin_interrupt: CAS     acquire  H1     what the thread set up for the function             blocking_phase_model: interrupt_or_end
// H4  end_interrupt: store     release  H2     the interrupter's work                              blocking_phase_model: interrupt_or_end
// H5  loads                    relaxed  -      only to wait: a CAS decides                         (floor)
// H6  begin_interrupt: CAS     relaxed  H1     nothing: begin() sees it, or it sees that it began  (floor)

namespace roost::inline ROOST_ABI::detail {

class blocking_phase {
public:
    void begin() noexcept {
        if (phase_.exchange(running, mo::release) == awaited) {  // H1
            wake_on(&phase_, 1);
        }
    }
    // Blocks while the interrupter runs.
    void end() noexcept {
        for (;;) {
            std::uint32_t seen = phase_.load(mo::relaxed);  // H5
            if (seen == interrupting) {
                wait_on(phase_, interrupting);
            } else if (phase_.compare_exchange_strong(seen, over, mo::acquire, mo::relaxed)) {  // H2
                return;
            }
        }
    }
    // Returns true once at most: the caller then calls the interrupter and end_interrupt(). Returns false if the function
    // has returned, or is interrupted already. Blocks while a thread has taken the function and is about to begin it.
    [[nodiscard]] bool begin_interrupt() noexcept {
        for (;;) {
            std::uint32_t seen = running;
            if (phase_.compare_exchange_strong(seen, interrupting, mo::acquire, mo::relaxed)) {  // H3
                return true;
            }
            if (seen == waiting) {
                static_cast<void>(phase_.compare_exchange_strong(seen, awaited, mo::relaxed, mo::relaxed));  // H6
            } else if (seen == awaited) {
                wait_on(phase_, awaited);
            } else {
                return false;
            }
        }
    }
    void end_interrupt() noexcept {
        phase_.store(interrupted, mo::release);  // H4
        wake_on(&phase_, 1);
    }
    void require_over() const noexcept {
        if (phase_.load(mo::relaxed) != over) {  // H5
            panic("blocking function", {}, site(),
                  "its coroutine was destroyed while it runs; cancel the task and join it instead");
        }
    }

private:
    enum : std::uint32_t { waiting, awaited, running, interrupting, interrupted, over };

    atomic<std::uint32_t> phase_{waiting};
};

inline void require_lane(const blocking_service* lane, executor_ref where) noexcept {
    if (lane == nullptr) [[unlikely]] {
        panic("executor", where ? where->name() : "none", site(),
              "has no threads for blocking work; give it a lane with set_blocking(&runtime.blocking()) before anything runs "
              "there, "
              "or call blocking_on(lane, fn)");
    }
}
}  // namespace roost::inline ROOST_ABI::detail
