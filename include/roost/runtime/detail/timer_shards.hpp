#pragma once

#include <roost/exec/detail/bell.hpp>
#include <roost/exec/detail/timer_table.hpp>
#include <roost/exec/timer.hpp>

#include <array>
#include <cstddef>

// The timers of a runtime or loop. Arming and disarming take one short lock, usually of the calling thread's own shard. One
// thread, the keeper, sleeps until the earliest deadline and fires.
//
// Why it is not simpler: one lock for all threads would be contended by every timeout of every request. Why no lock-free
// wheel: the pair of a lock and its release costs less than the two claims that a lock-free list would need.

namespace roost::inline ROOST_ABI::detail {

class timer_shard final : public timer_service {
public:
    [[nodiscard]] time_point now() noexcept override { return roost::now(); }
    bool arm(timer& t) noexcept override;
    bool disarm(timer& t) noexcept override;

    // Fires what is due. Returns the time of the next call.
    time_point advance(time_point now) noexcept;
    // Refuses new timers. Returns how many were still armed; they never fire.
    std::size_t close() noexcept;
    [[nodiscard]] std::size_t size() noexcept;  // how many are armed

    bell* ringer = nullptr;

private:
    alignas(64) timer_table table_;
};

class timer_shards final : public timer_service {
public:
    explicit timer_shards(bell& keeper) noexcept;

    [[nodiscard]] time_point now() noexcept override { return roost::now(); }
    bool arm(timer& t) noexcept override { return shards_[thread_index() % shards_.size()].arm(t); }
    bool disarm(timer& t) noexcept override { return t.service == nullptr || t.service->disarm(t); }

    time_point advance(time_point now) noexcept;
    std::size_t close() noexcept;
    [[nodiscard]] std::size_t size() noexcept;

private:
    std::array<timer_shard, 8> shards_;
};

}  // namespace roost::inline ROOST_ABI::detail
