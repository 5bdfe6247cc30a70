#pragma once

// Counts the slots that a channel reserves for values it may get back: one for each coroutine that waits to receive, until it
// has run or is destroyed. So a value whose receiver never runs has a slot: it comes back in a destructor, which must not
// allocate.
//
// Why it is not simpler: it has its own block of memory, because a receiver that has its value may run after the channel.
//
// word     number of receivers that have given their slot back; after retire(), minus the number of slots that were lent
//
// fields   none
// I1       the thread that brings the word to zero after retire() frees the block; no thread touches it afterwards
//
// id  operation             order    pairs    carries                                          fails in
// CP1  give back: fetch_add  acq_rel  CP1 CP2  out: last touch of the block; in: all others'    channel_model: slots_outlive_the_channel
// CP2  retire: fetch_sub     acq_rel  CP1      as CP1                                           channel_model: slots_outlive_the_channel
// CP3  done: load            relaxed  -        nothing: an old number only reserves more

#include <roost/base/atomic.hpp>

#include <cstdint>
#include <memory>

namespace roost::inline ROOST_ABI::detail {

class channel_slots {
public:
    channel_slots(const channel_slots&) = delete;
    channel_slots& operator=(const channel_slots&) = delete;

    [[nodiscard]] static channel_slots* make() {
        void* memory = allocate(sizeof(channel_slots), alignof(channel_slots));
        return ::new (memory) channel_slots();
    }
    // Called by the channel's destructor with the number of slots it has lent.
    void retire(std::uint64_t lent) noexcept {
        if (done_.fetch_sub(lent, mo::acq_rel) == lent) {  // CP2
            destroy();
        }
    }
    // Called by a receiver that has run or is destroyed.
    void give_back() noexcept {
        if (done_.fetch_add(1, mo::acq_rel) == ~std::uint64_t{0}) {  // CP1
            destroy();
        }
    }
    [[nodiscard]] std::uint64_t done() const noexcept { return done_.load(mo::relaxed); }  // CP3

private:
    channel_slots() noexcept = default;
    ~channel_slots() = default;
    void destroy() noexcept {
        this->~channel_slots();
        deallocate(this, sizeof(channel_slots), alignof(channel_slots));
    }

    atomic<std::uint64_t> done_{0};
};

}  // namespace roost::inline ROOST_ABI::detail
