#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/detail/bell.hpp>
#include <roost/exec/detail/timer_wheel.hpp>
#include <roost/exec/timer.hpp>

#include <array>
#include <cstddef>

// The timers of a runtime or loop. Arming and disarming take one short lock, usually of the calling thread's own shard; one
// thread, the keeper, sleeps until the earliest deadline and fires.
//
// Why it is not simpler: one lock for all threads would be contended by every timeout of every request. Why no lock-free
// wheel: the pair of a lock and its release costs less than the two claims that a lock-free list would need.
//
// Fields   timer::service  the shard; written by arm(), constant until armed again, so that disarm() finds the lock
//          timer::state    idle, armed, fired; under the shard's lock, like the wheel
//          firing          the timer whose fired() runs right now; only compared, it may be gone already
// I1       a timer is in the wheel exactly while its state is armed
//
// id  operation                 order    pairs  carries                                                 fails in
// T1  rounds_ fetch_add         relaxed  T2     nothing: changed and compared under the lock            (floor)
// T2  rounds_ load              relaxed  T1     nothing: as T1                                          (floor)

namespace roost::inline ROOST_ABI::detail {

class timer_shard final : public timer_service {
public:
    [[nodiscard]] time_point now() noexcept override { return roost::now(); }
    bool arm(timer& t) noexcept override;
    bool disarm(timer& t) noexcept override;

    // Fires what is due; when to come again.
    time_point advance(time_point now) noexcept;
    // Refuses from now on; how many timers were still armed: they will not fire.
    std::size_t close() noexcept;

    bell* ringer = nullptr;

private:
    enum : std::uint32_t { idle = 0, armed = 1, fired = 2 };

    void wait_out(timer& t) noexcept;

    alignas(64) small_mutex lock_;
    bool closed_ = false;
    bool awaited_ = false;
    std::uint32_t firing_thread_ = 0;
    timer* firing_ = nullptr;
    timer_wheel<>::tick known_ = timer_wheel<>::never;  // when the keeper comes at the latest
    atomic<std::uint32_t> rounds_{0};
    timer_wheel<> wheel_;
};

class timer_shards final : public timer_service {
public:
    explicit timer_shards(bell& keeper) noexcept;

    [[nodiscard]] time_point now() noexcept override { return roost::now(); }
    bool arm(timer& t) noexcept override { return shards_[thread_index() % shards_.size()].arm(t); }
    bool disarm(timer& t) noexcept override { return t.service == nullptr || t.service->disarm(t); }

    time_point advance(time_point now) noexcept;
    std::size_t close() noexcept;

private:
    std::array<timer_shard, 8> shards_;
};

}  // namespace roost::inline ROOST_ABI::detail
