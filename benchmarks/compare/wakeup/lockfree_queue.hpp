// Design 2, corrected: what lies in the queue is a ticket with a claim, shared by the waiter and the queue. A cancelled
// ticket stays in the queue as a tombstone, but no longer eats a wake: wake_one goes on until it claims a live one.
// The price: an allocation per waiter, tombstones until they are popped, and wake_all that is bounded but not atomic.
#pragma once

#include "waker.hpp"

#include <atomic>

namespace wakeup {

struct ticket {
    enum : int { waiting, woken, cancelled };
    waker wake;
    std::atomic<int> state{waiting};
    std::atomic<int> owners{2};
};

// `Queue` has push(ticket*) and bool pop(ticket*&).
template <class Queue>
class lockfree_queue {
public:
    struct node {
        ticket* mine = nullptr;
        node() = default;
        node(node const&) = delete;
        node& operator=(node const&) = delete;
        ~node() { drop(mine); }
    };

    lockfree_queue() = default;
    ~lockfree_queue() {
        for (ticket* t = nullptr; waiters_.pop(t);) drop(t);
    }

    template <class Condition>
    bool wait_unless(node& n, waker w, Condition condition) {
        if (condition()) return true;
        drop(n.mine);
        n.mine = new ticket{w, ticket::waiting, 2};
        pending_.fetch_add(1, std::memory_order_seq_cst);
        waiters_.push(n.mine);
        // Claimed by a wake meanwhile: then we are woken, which is as good.
        return condition() && cancel(n);
    }

    bool wake_one() {
        for (ticket* t = nullptr; pending_.load(std::memory_order_seq_cst) > 0 && waiters_.pop(t);) {
            pending_.fetch_sub(1, std::memory_order_relaxed);
            if (deliver(t)) return true;
        }
        return false;
    }

    // At most as many as were there when it began, so that waiters who come back at once cannot keep it busy.
    std::size_t wake_all() {
        std::size_t count = 0;
        ticket* t = nullptr;
        for (auto left = pending_.load(std::memory_order_seq_cst); left > 0 && waiters_.pop(t); --left) {
            pending_.fetch_sub(1, std::memory_order_relaxed);
            if (deliver(t)) ++count;
        }
        return count;
    }

    bool cancel(node& n) {
        int expected = ticket::waiting;
        return n.mine->state.compare_exchange_strong(expected, ticket::cancelled, std::memory_order_acq_rel);
    }

private:
    static bool deliver(ticket* t) {
        int expected = ticket::waiting;
        bool const claimed = t->state.compare_exchange_strong(expected, ticket::woken, std::memory_order_acq_rel);
        waker const w = t->wake;
        drop(t);
        if (claimed) w();
        return claimed;
    }
    static void drop(ticket* t) {
        if (t != nullptr && t->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete t;
    }

    Queue waiters_;
    std::atomic<long> pending_{0};
};

} // namespace wakeup
