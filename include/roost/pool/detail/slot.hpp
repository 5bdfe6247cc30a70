#pragma once

// One unit of a pool's capacity: storage for one resource, and the record of its holder.
//
// The slot's state in the stripe's word decides which thread may access it. Idle or spare: the thread that commits it away. Out:
// its holder. Busy: the attempt that creates, checks or destroys. Reports and upkeep also read the atomic fields, and need only
// a recent value.
//
// id  operation              order            pairs   carries                                             fails in
// T6  holder, times          relaxed          -       nothing: reports need a recent value                (floor)
// H1  holder, aged: store    release          H2      out: the time of the acquire                        pool_time_model: leaks_vs_take
// H2  holder, aged: load     acquire          H1      in: the time of this acquire or a later one         pool_time_model: leaks_vs_take
//
// The orders of a stripe's word: pool_stripes.hpp.

// Orders T1 to T5: pool/detail/pool_stripes.hpp.

#include <roost/base/assert.hpp>
#include <roost/base/atomic.hpp>
#include <roost/base/site.hpp>
#include <roost/exec/timer.hpp>
#include <roost/exec/work.hpp>
#include <roost/pool/detail/stripe_state.hpp>
#include <roost/pool/error.hpp>
#include <roost/tree/detail/node.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

class pool_core;
class pool_waiter;
class slot_base;

struct alignas(64) pool_stripe {
    // Commits next(state) and returns the step. next() must be pure: it may be called again. If the step is refused, nothing is
    // changed.
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

    [[nodiscard]] stripe_state look() const noexcept { return stripe_state(word.load(mo::relaxed)); }  // T5

    // Called before every compare-exchange of the word, also outside commit().
    void expect_valid([[maybe_unused]] stripe_state next) const noexcept {
        ROOST_ASSERT(is_valid(next, slot_count), "I1: a stripe of a pool left its states");
    }

    atomic<stripe_state::word> word{0};
    unsigned number = 0;
    unsigned slot_count = 0;
    slot_base* slots[stripe_state::max_slots] = {};
};

// The work base runs its destruction on the pool's executor. The timer base is the limit of the current attempt.
class slot_base : public work, public timer {
public:
    slot_base() noexcept : work(nullptr), timer(&slot_base::limit_passed), expiry(*this) {}
    static void limit_passed(timer& t) noexcept;

    pool_core* core = nullptr;
    pool_stripe* home = nullptr;
    unsigned number = 0;

    atomic<const char*> holder{nullptr};
    atomic<site> where{site()};  // unknown: not out
    atomic<std::int64_t> since{0};  // time of the acquire; 0: not tracked
    atomic<std::int64_t> used{0};  // time of the last return
    atomic<std::int64_t> expires{0};  // end of its lifetime; 0: none
    bool leak_reported = false;  // accessed by upkeep only

    // Under the queue's lock.
    pool_waiter* owner = nullptr;  // the waiter for which it is being created or checked
    std::uint32_t attempt = 0;  // changes when the current attempt ends or its limit passes
    std::uint32_t armed_attempt = 0;  // the attempt that the timer limits
    node_ref<node> running;  // the job of the current attempt, if it is one
    slot_base* next_effect = nullptr;
    bool was_armed = false;  // the timer limits the current attempt
    bool is_creating = false;  // while busy: it is being created, else destroyed
    bool is_checking = false;  // while busy: it is being checked, neither created nor destroyed

    // Posted to the pool's executor when the limit passes.
    struct expiry_work : work {
        explicit expiry_work(slot_base& s) noexcept;
        slot_base* slot;
        bool is_posted = false;
        std::uint32_t attempt = 0;  // the attempt whose limit has passed
        pool_error::step operation = pool_error::step::create;
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
    // Constructs the result of make() in place, so R need not be movable.
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
