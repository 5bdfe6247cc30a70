#pragma once

// Orders the events of one job: observers are called one at a time, and for a request to cancel exactly once.
//
// Why it is not simpler: the body reports its own states while any thread may cancel the job. A lock around the observers
// would be held while they run. So a thread that finds another one reporting leaves its request behind, and the other one
// reports it before it goes on. States before `cancelling` come from one thread at a time, so only a request is ever left.
// The end is no part of this: every reporting thread holds a unit of work of the job.
//
// word     bit 0 busy: a thread reports; bit 1 wanted: a request to cancel is left to that thread; bit 2 cancelled: the
//          request is reported, or being reported
//
//   idle --begin--> busy --done--> idle                      created, active, completing
//   idle --begin_cancel--> busy,cancelled --done--> cancelled
//   busy --begin_cancel--> busy,wanted --done--> busy,cancelled: the same thread goes on
//
// fields   none
// I1       one thread at a time has begun and is not done
//
// id  operation          order            pairs     carries                                         fails in
// E1  load               relaxed          -         nothing: a first guess for the CAS              (floor)
// E2  begin: CAS         relaxed          -         nothing: the body orders its own states         (floor)
// E3  begin_cancel: CAS  acq_rel/relaxed  E4        in: what was reported; out: the raised level    event_sequence_model: active_vs_cancel
// E4  done: CAS          acq_rel/relaxed  E3        out: what was reported; in: the raised level    event_sequence_model: active_vs_cancel

#include <roost/base/atomic.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

class event_sequence {
public:
    // has_begun: the maker reports the creation first, and then calls done().
    explicit event_sequence(bool has_begun) noexcept : word_(has_begun ? busy : std::uint8_t(0)) {}

    // Returns true if the caller reports a state before `cancelling`; it calls done() afterwards. Returns false if the job
    // is being cancelled, so that there is no such state any more.
    [[nodiscard]] bool begin() noexcept {
        std::uint8_t seen = word_.load(mo::relaxed);  // E1
        do {
            if (seen != 0) {
                return false;
            }
        } while (!word_.compare_exchange_weak(seen, busy, mo::relaxed, mo::relaxed));  // E2
        return true;
    }

    // Returns true if the caller reports the request to cancel; it calls done() afterwards. Returns false if it was reported
    // already, or is left to the thread that reports.
    [[nodiscard]] bool begin_cancel() noexcept {
        std::uint8_t seen = word_.load(mo::relaxed);  // E1
        std::uint8_t next = 0;
        do {
            if ((seen & (wanted | cancelled)) != 0) {
                return false;
            }
            next = seen == busy ? busy | wanted : busy | cancelled;
        } while (!word_.compare_exchange_weak(seen, next, mo::acq_rel, mo::relaxed));  // E3
        return seen != busy;
    }

    // Returns true if a request to cancel was left to the caller: it reports that, and calls done() again.
    [[nodiscard]] bool done() noexcept {
        std::uint8_t seen = word_.load(mo::relaxed);  // E1
        std::uint8_t next = 0;
        do {
            next = (seen & wanted) != 0 ? busy | cancelled : static_cast<std::uint8_t>(seen & ~busy);
        } while (!word_.compare_exchange_weak(seen, next, mo::acq_rel, mo::relaxed));  // E4
        return (seen & wanted) != 0;
    }

private:
    static constexpr std::uint8_t busy = 1;
    static constexpr std::uint8_t wanted = 2;
    static constexpr std::uint8_t cancelled = 4;

    atomic<std::uint8_t> word_;
};

}  // namespace roost::inline ROOST_ABI::detail
