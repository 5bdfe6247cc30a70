#pragma once

#include <roost/base/atomic.hpp>

#include <cstdint>

// One thread sleeps, any thread rings. A ring between listen() and sleep() is not missed. Ringing a thread that is awake costs
// no system call.
//
// Word     word_: asleep (bit 0), number of rings (bits 1..31; only compared, may wrap while no thread listens)
//
//   listener:  heard = listen();  check everything;  sleep(heard, deadline)
//   ringer:    change something;  ring()
//
// id  operation              order    pairs  carries                                              fails in
// B1  listen: load           acquire  B2     what was changed before earlier rings                bell_model: ring_or_sleep
// B2  ring: fetch_add        release  B1 B3  the change                                           bell_model: ring_or_sleep
// B3  sleep: CAS             relaxed  B2     nothing: a change is checked for after the next B1   (floor)
// B4  sleep: fetch_and       relaxed  -      nothing: only the listener clears its own bit        (floor)

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

    void ring() noexcept {
        if ((word_.fetch_add(one_ring, mo::release) & asleep) != 0) {  // B2
            wake_on(&word_, 1);
        }
    }

private:
    static constexpr std::uint32_t asleep = 1;
    static constexpr std::uint32_t one_ring = 2;

    alignas(64) atomic<std::uint32_t> word_{0};
};

}  // namespace roost::inline ROOST_ABI::detail
