#pragma once

// Waiters in order of arrival, under a gate_lock. The building block of every primitive: O(1) to queue, to claim the first,
// and to unlink from the middle.
//
// take_all() takes the whole list at once and increments the generation; that is its commit. A node keeps its claim until the
// walk reaches it, but a canceller that takes the lock sees the old generation: it has lost.
//
// fields   next_ prev_ generation_ of a waiter; to write claim_
//            idle                        its owner
//            queued (waiting, current)   the holder of the lock
//            claimed by one              the claimer until it is delivered, then its owner
//            taken (older generation)    the walker until it is delivered, then its owner
// I1       a waiter is in at most one list
// I2       in the list <=> waiting and of the current generation
// I3       size == number of waiters in the list, whenever the lock is free
//
// id  operation            order    pairs  carries                                    fails in
// W1  size: load           relaxed  -      nothing: a statistic
// W2  size: store          relaxed  -      nothing: a statistic, written under the lock
// W3  claim: load, store   relaxed  -      nothing: the lock, or the delivery, orders it; atomic because a canceller loads it
//                                          before it takes the lock, also of waiters whose owner has just been resumed
// W4  drop: store          release  W4     out: last touch of a waiter whose select need not take the lock    gone_model: dropped_alternative
//     claimed? load        acquire  W4     in: the same

#include <roost/base/assert.hpp>
#include <roost/sync/detail/choice.hpp>
#include <roost/sync/detail/gate_lock.hpp>
#include <roost/sync/waiter.hpp>

namespace roost::inline ROOST_ABI::detail {

// Waiters that were taken from a list, in order, to be delivered outside its lock.
class wake_chain {
public:
    constexpr wake_chain() noexcept = default;
    constexpr explicit wake_chain(waiter* first) noexcept : first_(first) {}

    void add(waiter& w) noexcept {
        w.next_.set(nullptr);
        if (last_ == nullptr) {
            first_ = &w;
        } else {
            last_->next_.set(&w);
        }
        last_ = &w;
    }
    [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }
    // Delivers all of them. Touches nothing but the waiters: the first one may destroy the list they came from.
    void deliver(std::string_view what) noexcept;
    void deliver(const char* what) noexcept;
    // As deliver(), but each behind everything that its executor has queued. For events of a driver, which come in batches.
    void deliver_last(const char* what) noexcept;

private:
    template <class What>
    void deliver_all(What what) noexcept;
    // Each delivers the first waiter and those behind it with the same executor. Returns the rest.
    template <class What>
    static waiter* post_together(waiter* w, What what) noexcept;
    static waiter* run_in_turn(waiter* w) noexcept;
    static waiter* mark(waiter& w) noexcept;

    waiter* first_ = nullptr;
    waiter* last_ = nullptr;
};

class wait_list {
public:
    constexpr wait_list() noexcept = default;
    wait_list(const wait_list&) = delete;
    wait_list& operator=(const wait_list&) = delete;

    void lock() noexcept { gate_.lock(); }
    void unlock() noexcept { gate_.unlock(size_.load(mo::relaxed) != 0); }  // W1
    // For a caller that knows whether the list is empty: saves the load of a value that was just stored.
    void unlock(bool is_waited) noexcept {
        ROOST_ASSERT(is_waited == (head_.get() != nullptr), "I3: the gate agrees with the list");
        gate_.unlock(is_waited);
    }
    [[nodiscard]] bool is_idle() const noexcept { return gate_.is_idle(); }
    [[nodiscard]] std::uint32_t size_approx() const noexcept { return size_.load(mo::relaxed); }  // W1

    // For destructors. Blocks until the thread that woke the owner has released the lock. Returns false if a waiter is queued.
    [[nodiscard]] bool is_quiet() noexcept {
        if (gate_.is_held()) {
            lock();
            unlock();
        }
        return gate_.is_idle();
    }

    // --- everything below: only with the lock held ---

    [[nodiscard]] waiter* front() const noexcept { return head_.get(); }
    [[nodiscard]] bool is_empty() const noexcept { return head_.get() == nullptr; }
    // Returns null for the last waiter.
    [[nodiscard]] waiter* next_of(const waiter& w) const noexcept {
        waiter* next = w.next_.get();
        return next == head_.get() ? nullptr : next;
    }
    [[nodiscard]] bool contains(const waiter& w) const noexcept {
        return w.state() == claim::waiting && w.generation_.get() == generation_;
    }

    // The waiter to serve, or null. is_lost() is true if there is none because `active` was decided elsewhere.
    class picked {
    public:
        constexpr picked(waiter* who, bool is_lost) noexcept : who_(who), lost_(is_lost) {}
        [[nodiscard]] waiter* who() const noexcept { return who_; }
        [[nodiscard]] bool is_lost() const noexcept { return lost_; }

    private:
        waiter* who_;
        bool lost_;
    };
    // Returns the first waiter; the caller takes and serves it at once. Wins its choice if it is an alternative, and the choice
    // of `active`, the alternative that serves it. Null: no waiter to serve.
    [[nodiscard]] picked pick(waiter* active = nullptr) noexcept {
        if (!has_alternatives_ && (active == nullptr || !active->is_alternative())) [[likely]] {
            return {head_.get(), false};
        }
        return pick_slow(active);
    }

    void push_back(waiter& w) noexcept {
        ROOST_ASSERT(w.state() == claim::idle, "I1: a waiter is in at most one list");
        if (w.is_alternative()) [[unlikely]] {
            has_alternatives_ = true;
        }
        w.generation_.set(generation_);  // mutate
        w.claim_.store(claim::waiting, mo::relaxed);  // W3
        const std::uint32_t size = size_.load(mo::relaxed);  // W1
        if (size == 0) {
            w.next_.set(&w);
            w.prev_.set(&w);
            head_.set(&w);
        } else {
            waiter* first = head_.get();
            waiter* last = first->prev_.get();
            w.next_.set(first);
            w.prev_.set(last);
            last->next_.set(&w);
            first->prev_.set(&w);
        }
        size_.store(size + 1, mo::relaxed);  // W2
    }

    // Claims a queued waiter and unlinks it. Returns true if other waiters are left.
    bool take(waiter& w, claim as) noexcept {
        ROOST_ASSERT(contains(w), "I2: only a queued waiter can be claimed");
        const std::uint32_t size = size_.load(mo::relaxed);  // W1
        if (size == 1) {  // without reading its links: they may be in another core's cache
            head_.set(nullptr);
        } else {
            waiter* next = w.next_.get();
            waiter* prev = w.prev_.get();
            prev->next_.set(next);
            next->prev_.set(prev);
            if (head_.get() == &w) {
                head_.set(next);  // mutate
            }
        }
        w.claim_.store(as, mo::relaxed);  // W3
        size_.store(size - 1, mo::relaxed);  // W2
        return size != 1;
    }

    // Unlinks an alternative that was decided elsewhere. Its select may see that without the lock, and be destroyed.
    void drop(waiter& w) noexcept {
        take(w, claim::waiting);
        w.claim_.store(claim::cancelled, mo::release);  // W4
    }

    // For lists of another kind. Called under the lock of the list that the waiter is in.
    static void mark(waiter& w, claim as) noexcept { w.claim_.store(as, mo::relaxed); }  // W3
    // For a waiter that was served without being queued; it is delivered like a queued one.
    static void mark_delivered(waiter& w) noexcept { w.claim_.store(claim::delivered, mo::relaxed); }  // W3

    // Claims the waiter and returns true if it is still queued.
    [[nodiscard]] bool take_if_queued(waiter& w, claim as) noexcept {
        if (!contains(w)) {  // mutate
            return false;
        }
        take(w, as);
        return true;
    }

    // Takes all waiters, to be delivered without the lock.
    [[nodiscard]] wake_chain take_all() noexcept {
        if (has_alternatives_) [[unlikely]] {
            settle_alternatives();
        }
        waiter* first = head_.get();
        if (first != nullptr) {
            first->prev_.get()->next_.set(nullptr);
            head_.set(nullptr);
            ++generation_;  // mutate
            size_.store(0, mo::relaxed);  // W2
        }
        return wake_chain(first);
    }

private:
    picked pick_slow(waiter* active) noexcept;
    void settle_alternatives() noexcept;

    gate_lock gate_;
    atomic<std::uint32_t> size_{0};
    plain<waiter*> head_{nullptr};
    std::uint32_t generation_ = 0;
    bool has_alternatives_ = false;  // true if an alternative was queued since the list was last emptied
};

}  // namespace roost::inline ROOST_ABI::detail
