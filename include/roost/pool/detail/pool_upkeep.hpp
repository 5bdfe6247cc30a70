#pragma once

#include <roost/pool/detail/pool_life.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

class pool_creation;

// Upkeep of a pool: stale, old and unfit resources, leaks, and warm resources.
class pool_upkeep {
public:
    pool_upkeep(pool_life& life, pool_queue& queue, pool_creation& creation) noexcept;

    // Starts or continues the periodic upkeep, if the options want one.
    void start() noexcept;
    // Called when the pool is drained.
    void end() noexcept;
    // Creates resources until as many are alive as the options want.
    void warm_up() noexcept;
    // Examines a taken resource. Returns resource if it is fit, nothing if it is unfit and being destroyed, unchecked if it needs
    // an awaitable check.
    [[nodiscard]] gift examine(slot_base& s) noexcept;
    // Called before a resource is returned. Returns true if its lifetime was over and it is being destroyed instead.
    [[nodiscard]] bool return_with_upkeep(slot_base& s) noexcept;

private:
    [[nodiscard]] bool is_stale(const slot_base& s, std::int64_t now) const noexcept;
    void evict_stale(pool_stripe& s, std::int64_t now) noexcept;
    void keep_after_all(slot_base& s) noexcept;
    void maintain() noexcept;
    void look_after() noexcept;
    void report_leaks(std::int64_t now) noexcept;
    void report_leak(slot_base& s, std::int64_t now) noexcept;
    [[nodiscard]] duration period() const noexcept;

    pool_life& life_;
    const pool_settings& settings_;
    pool_queue& queue_;
    pool_creation& creation_;
    bool lives_ = false;  // under the queue's lock
    pool_alarm<pool_upkeep, &pool_upkeep::maintain> alarm_;
};

}  // namespace roost::inline ROOST_ABI::detail
