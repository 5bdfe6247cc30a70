#pragma once

// One unit of a pool's capacity: the place for one resource, and what is known about whoever has it.
//
// Who may touch a slot follows from its state in the stripe's word: idle or spare: whoever commits it away; out: its holder;
// busy: whoever creates or destroys. The atomic fields are also read by reports and upkeep, which only want a recent value.

#include <roost/base/assert.hpp>
#include <roost/base/atomic.hpp>
#include <roost/base/site.hpp>
#include <roost/exec/timer.hpp>
#include <roost/exec/work.hpp>
#include <roost/pool/detail/stripe_state.hpp>
#include <roost/pool/error.hpp>
#include <roost/tree/node.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

class pool_core;
class pool_waiter;
class slot_base;

struct alignas(64) pool_stripe {
    // Commits next(state), which is pure: it may be asked again. Refused: nothing was changed.
    template <class Transition>
    stripe_step commit(Transition next) noexcept {
        stripe_state::word seen = word.load(mo::relaxed);  // T1
        for (;;) {
            const stripe_step step = next(stripe_state(seen));
            if (step.is_refused()) {
                return step;
            }
            expect_valid(step.next);
            if (word.compare_exchange_weak(seen, step.next.bits, mo::acq_rel, mo::relaxed)) {  // T4
                return step;
            }
        }
    }

    // Before every commit, also of those that do not come by way of commit().
    void expect_valid([[maybe_unused]] stripe_state next) const noexcept {
        ROOST_ASSERT(is_valid(next, slot_count), "I1: a stripe of a pool left its states");
    }

    atomic<stripe_state::word> word{0};
    unsigned number = 0;
    unsigned slot_count = 0;
    slot_base* slots[stripe_state::max_slots] = {};
};

// The work is its destruction on the pool's executor, the timer the limit of its creation or destruction.
class slot_base : public work, public timer {
public:
    slot_base() noexcept : work(nullptr), timer(&slot_base::limit_passed), expiry(*this) {}
    static void limit_passed(timer& t) noexcept;

    pool_core* core = nullptr;
    pool_stripe* home = nullptr;
    unsigned number = 0;

    atomic<const char*> who{nullptr};
    atomic<site> where{site()};  // unknown: not out
    atomic<std::int64_t> since{0};  // taken at; 0: not tracked
    atomic<std::int64_t> used{0};  // returned at
    atomic<std::int64_t> expires{0};  // the end of its lifetime; 0: none
    bool leak_told = false;  // only upkeep

    // Under the queue's lock.
    pool_waiter* owner = nullptr;  // on whose behalf it is being created
    std::uint32_t attempt = 0;  // changes when the current creation or destruction ends or is given up
    std::uint32_t armed_attempt = 0;  // the one the timer limits
    node_ref<node> running;  // the current attempt, when it is a job
    slot_base* next_effect = nullptr;
    bool was_armed = false;  // only whoever has it busy
    bool is_creating = false;  // else it is being destroyed; only while busy
    bool is_checking = false;  // and neither

    // Posted to the pool's executor when the limit has passed.
    struct expiry_work : work {
        explicit expiry_work(slot_base& s) noexcept;
        slot_base* slot;
        bool is_posted = false;
        std::uint32_t attempt = 0;  // whose limit has passed, and what it was doing
        pool_operation operation = pool_operation::create;
    } expiry;

protected:
    ~slot_base() = default;
};

// Neighbours belong to different stripes, so they share no cache line.
template <class R>
class alignas(64) slot final : public slot_base {
public:
    template <class... Args>
    void emplace(Args&&... args) {
        ::new (static_cast<void*>(storage_)) R(std::forward<Args>(args)...);
    }
    // What make() returns is made right here, so it need not be movable.
    template <class Make>
    void emplace_from(Make& make) {
        ::new (static_cast<void*>(storage_)) R(make());
    }
    [[nodiscard]] R& value() noexcept { return *std::launder(reinterpret_cast<R*>(storage_)); }
    void destroy_value() noexcept { value().~R(); }

private:
    alignas(R) std::byte storage_[sizeof(R)];
};

}  // namespace roost::inline ROOST_ABI::detail
