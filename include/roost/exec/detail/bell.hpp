#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/driver.hpp>

#include <cstdint>

// One thread sleeps, any thread rings. A ring between listen() and sleep() is not missed. Ringing a thread that is awake costs
// no system call.
//
// Word     word_: asleep (bit 0), in its driver (bit 1), number of rings (bits 2..31; only compared, may wrap while no thread
//          listens)
// Fields   driver_: written by the listener before B3, read by the ringer that sees its bit
//
//   listener:  heard = listen();  check everything;  sleep(heard, deadline)
//   ringer:    change something;  ring()
//
// id  operation              order    pairs  carries                                              fails in
// B1  listen: load           acquire  B2     what was changed before earlier rings                bell_model: ring_or_sleep
// B2  ring: fetch_add        acq_rel  B1 B3  out: the change; in: driver_                         bell_model: ring_or_sleep
// B3  sleep: CAS             relaxed  B2     nothing: a change is checked for after the next B1   (floor)
//     drive: CAS             release  B2     driver_                                              bell_model: ring_or_drive
// B4  sleep: fetch_and       relaxed  -      nothing: only the listener clears its own bit        (floor)
// B5  drive: fetch_and       relaxed  -      nothing: as B4                                       (floor)
//
// B5 survives fetch_and as load and store: a ring that is overwritten has seen the bit, and the driver's wake() lasts

namespace roost::inline ROOST_ABI::detail {

class bell {
public:
    [[nodiscard]] std::uint32_t listen() const noexcept { return word_.load(mo::acquire); }  // B1

    void sleep(std::uint32_t heard, time_point deadline = no_deadline) noexcept {
        if (word_.compare_exchange_strong(heard, heard | asleep, mo::relaxed, mo::relaxed)) {  // B3
            wait_on_until(word_, heard | asleep, deadline);
            word_.fetch_and(~asleep, mo::relaxed);  // B4
        }
    }

    // As sleep(), in the driver: also returns when that has something to handle. Another thread may still call the driver's
    // wake() when this has returned.
    void drive(std::uint32_t heard, ext::driver& in, time_point deadline = no_deadline) noexcept {
        if (driver_.get() != &in) {  // a ringer that saw an earlier bit may still read it
            driver_.set(&in);
        }
        if (word_.compare_exchange_strong(heard, heard | driving, mo::release, mo::relaxed)) {  // B3
            in.park(deadline);
            word_.fetch_and(~driving, mo::relaxed);  // B5
        }
    }

    void ring() noexcept {
        const std::uint32_t before = word_.fetch_add(one_ring, mo::acq_rel);  // B2
        if ((before & asleep) != 0) {
            wake_on(&word_, 1);
        } else if ((before & driving) != 0) {
            driver_.get()->wake();
        }
    }

private:
    static constexpr std::uint32_t asleep = 1;
    static constexpr std::uint32_t driving = 2;
    static constexpr std::uint32_t one_ring = 4;

    alignas(64) atomic<std::uint32_t> word_{0};
    plain<ext::driver*> driver_{nullptr};
};

}  // namespace roost::inline ROOST_ABI::detail
