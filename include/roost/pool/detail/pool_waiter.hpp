#pragma once

#include <roost/pool/detail/slot.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/waiter.hpp>

#include <cstdint>
#include <exception>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// What a waiter received. late: its creation passed its limit; the cause is the complete error. unchecked: a resource that needs
// the awaitable check first; enqueue() starts it.
enum class gift : std::uint8_t { nothing, resource, permit, stopped, closed, failed, late, unchecked };

class pool_waiter : public waiter {
public:
    pool_waiter() noexcept = default;
    pool_waiter(pool_waiter&&) noexcept = default;

    // Under the lock. Parts from the slot that is being created or checked for this waiter. The attempt continues; its resource
    // goes to the next waiter or becomes idle.
    void leave_making() noexcept {
        if (making != nullptr) {
            making->owner = nullptr;
            making = nullptr;
        }
    }
    // The same, from the side of the slot. Returns the waiter, or null if there is none.
    static pool_waiter* leave_owner(slot_base& s) noexcept {
        pool_waiter* const owner = std::exchange(s.owner, nullptr);
        if (owner != nullptr) {
            owner->making = nullptr;
        }
        return owner;
    }

    gift given = gift::nothing;
    slot_base* slot = nullptr;  // of resource and permit; of failed, if known
    slot_base* making = nullptr;  // being created or checked for this waiter; under the lock
    std::exception_ptr cause;  // of failed and late

protected:
    pool_waiter(thread_tag tag, work::run_function unpark) noexcept : waiter(tag, unpark) {}
};

// Effects that a critical section leaves to be run after the lock is released.
struct pool_effects {
    void create(slot_base& s) noexcept { s.next_effect = std::exchange(to_create, &s); }
    void destroy(slot_base& s) noexcept { s.next_effect = std::exchange(to_destroy, &s); }
    // Notes what a commit leaves to be done.
    void note(const stripe_step& step, slot_base& s) noexcept {
        units += step.leave ? 1 : 0;
        if (step.effect == stripe_effect::destroy) {
            destroy(s);
        }
    }

    wake_chain handed;
    waiter* called = nullptr;
    slot_base* to_create = nullptr;  // to be created or checked
    slot_base* to_destroy = nullptr;
    wake_chain closers;
    bool drained = false;  // closed, and every slot is free
    bool ended = false;  // and there is no aside
    unsigned units = 0;  // to be given back to the node
    bool only_gifts = true;  // every waiter in `handed` received something that keeps the pool alive until it runs
};

}  // namespace roost::inline ROOST_ABI::detail
