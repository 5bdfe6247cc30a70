#pragma once

// Counts the places that a channel keeps for values it may get back: one for each coroutine that waits to receive, from the
// moment it queues up until it has run or is gone. A value that was given to a receiver which never runs then has where to go,
// although it comes back in a destructor, where nothing may be allocated.
//
// Its own block of memory, because a receiver that has its value may run when the channel is gone already.
//
// word     how many receivers are done with their place; once the channel has retired, minus those that are not
//
// fields   none
// I1       whoever brings the word to zero after the channel has retired frees the block, and nobody touches it afterwards
//
// id  operation             order    pairs    carries                                          fails in
// CP1  give back: fetch_add  acq_rel  CP1 CP2  out: last touch of the block; in: everybody's    channel_model: places_outlive_the_channel
// CP2  retire: fetch_sub     acq_rel  CP1      as CP1                                           channel_model: places_outlive_the_channel
// CP3  done: load            relaxed  -        nothing: too few only means that more is kept

#include <roost/base/atomic.hpp>

#include <cstdint>
#include <memory>

namespace roost::inline ROOST_ABI::detail {

class channel_places {
public:
    channel_places(const channel_places&) = delete;
    channel_places& operator=(const channel_places&) = delete;

    [[nodiscard]] static channel_places* make() {
        void* memory = allocate(sizeof(channel_places), alignof(channel_places));
        return ::new (memory) channel_places();
    }
    // By the channel's destructor, which has lent as many as it says.
    void retire(std::uint64_t lent) noexcept {
        if (done_.fetch_sub(lent, mo::acq_rel) == lent) {  // CP2
            destroy();
        }
    }
    // By a receiver that has its value, or has given it up.
    void give_back() noexcept {
        if (done_.fetch_add(1, mo::acq_rel) == ~std::uint64_t{0}) {  // CP1
            destroy();
        }
    }
    [[nodiscard]] std::uint64_t done() const noexcept { return done_.load(mo::relaxed); }  // CP3

private:
    channel_places() noexcept = default;
    ~channel_places() = default;
    void destroy() noexcept {
        this->~channel_places();
        deallocate(this, sizeof(channel_places), alignof(channel_places));
    }

    atomic<std::uint64_t> done_{0};
};

}  // namespace roost::inline ROOST_ABI::detail
