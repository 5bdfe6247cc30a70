#pragma once

// A manual-reset event for threads, small enough to read at once: the explorer's and the mutation gate's first patient.
//
// Why it is not simpler: a flag plus a list loses wakes. A waiter that saw the flag clear and is not yet in the list when
// the setter takes the list sleeps for ever. So "set" and "who waits" are one word.
//
// layout   head == 0           unset, no waiter
//          head == set_mark    set
//          otherwise           stack of waiters, newest first
//
//   unset --wait--> waited --wait--> waited
//   unset|waited --set--> set           effect: wake every taken waiter
//
// fields   waiter.next         owner until E3 succeeds; then the setter
//          waiter.awake        setter writes once; the waiter's memory may be gone right after
//
// id  operation              order             pairs   carries                       fails in
// E1  set: exchange          acq_rel           E2 E3   the setter's writes; nodes    sample_event
// E2  wait: load             acquire           E1      the setter's writes           sample_event
// E3  wait: CAS push         release/acquire   E1      the node; seen set: writes    sample_event
// E4  set: store awake       release           E5      the setter's writes           sample_event
// E5  wait: load awake       acquire           E4      the setter's writes           sample_event

#include <roost/base/atomic.hpp>

#include <cstdint>

namespace sample {

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;

class event {
public:
    void set() noexcept {
        std::uintptr_t taken = head_.exchange(set_mark, mo::acq_rel);  // E1
        while (taken != 0 && taken != set_mark) {
            auto* w = reinterpret_cast<waiter*>(taken);
            taken = w->next.get();
            const atomic<std::uint32_t>* word = &w->awake;
            w->awake.store(1, mo::release);  // E4
            wake_on(word, 1);
        }
    }

    void wait() noexcept {
        waiter self;
        std::uintptr_t seen = head_.load(mo::acquire);  // E2
        for (;;) {
            if (seen == set_mark) {
                return;
            }
            self.next.set(seen);
            if (head_.compare_exchange_weak(seen, reinterpret_cast<std::uintptr_t>(&self), mo::release,
                                            mo::acquire)) {  // E3
                break;
            }
        }
        while (self.awake.load(mo::acquire) == 0) {  // E5
            wait_on(self.awake, 0);
        }
    }

private:
    static constexpr std::uintptr_t set_mark = 1;

    struct waiter {
        plain<std::uintptr_t> next;
        atomic<std::uint32_t> awake{0};
    };

    atomic<std::uintptr_t> head_{0};
};

}  // namespace sample
