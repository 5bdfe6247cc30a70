#pragma once

#include <roost/pool/detail/slot.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/waiter.hpp>

#include <cstdint>
#include <exception>

namespace roost::inline ROOST_ABI::detail {

// What a waiter was given. late: its creation was given up at its limit, the cause says so itself. unchecked: a resource that
// goes through the awaitable check first, by way of enqueue().
enum class gift : std::uint8_t { nothing, resource, permit, stopped, closed, failed, late, unchecked };

class pool_waiter : public waiter {
public:
    pool_waiter() noexcept = default;
    pool_waiter(pool_waiter&&) noexcept = default;

    gift given = gift::nothing;
    slot_base* slot = nullptr;  // resource, permit; failed: where, when that is known
    slot_base* making = nullptr;  // being created on our behalf; under the lock
    std::exception_ptr cause;  // failed, late

protected:
    pool_waiter(thread_tag tag, work::run_function unpark) noexcept : waiter(tag, unpark) {}
};

// What a critical section leaves to be done outside the lock.
struct pool_effects {
    wake_chain handed;
    waiter* called = nullptr;
    slot_base* to_create = nullptr;
    slot_base* to_destroy = nullptr;
    wake_chain closers;
    bool drained = false;  // closed, and every place is free
    bool ended = false;  // and nothing runs beside the places
    unsigned units = 0;  // to be given back to the node
    bool only_gifts = true;  // everybody handed was given something that keeps the pool alive until they run
};

}  // namespace roost::inline ROOST_ABI::detail
