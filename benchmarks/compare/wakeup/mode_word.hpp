// Design 1, corrected: the mode is not a word of its own but what is there: a node in the slot, nodes in the overflow.
// The slot is only filled while the overflow is empty, and a wake always empties the slot first, so nobody is overtaken
// for ever and nobody is forgotten. FIFO is still only approximate: a wake that has just emptied the slot lets a
// newcomer into it before the overflow is served, once per wake.
#pragma once

#include "mutex_deque.hpp"

namespace wakeup {

class mode_word {
public:
    using node = mutex_deque::node;

    template <class Condition>
    bool wait_unless(node& n, waker w, Condition condition) {
        if (condition()) return true;
        node* expected = nullptr;
        if (overflowing_.load(std::memory_order_acquire) == 0) {
            n.wake = w;
            if (slot_.compare_exchange_strong(expected, &n, std::memory_order_seq_cst)) return recheck(n, condition);
        }
        overflowing_.fetch_add(1, std::memory_order_seq_cst);
        if (!overflow_.wait_unless(n, w, condition)) return false;
        overflowing_.fetch_sub(1, std::memory_order_relaxed);
        return true;
    }

    bool wake_one() {
        if (slot_.load(std::memory_order_seq_cst) != nullptr && wake_slot()) return true;
        return overflowing_.load(std::memory_order_seq_cst) != 0 && wake_overflow();
    }

    // Everybody is taken before anybody is called: a waiter that comes back at once is not woken twice.
    std::size_t wake_all() {
        node* first = slot_.load(std::memory_order_seq_cst);
        if (first != nullptr) first = slot_.exchange(nullptr, std::memory_order_acq_rel);
        std::deque<node*> rest;
        if (overflowing_.load(std::memory_order_seq_cst) != 0) {
            rest = overflow_.take_all();
            overflowing_.fetch_sub(rest.size(), std::memory_order_relaxed);
        }
        if (first != nullptr) first->wake();
        for (node* n : rest) n->wake();
        return rest.size() + (first != nullptr ? 1 : 0);
    }

    bool cancel(node& n) {
        node* expected = &n;
        if (slot_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel)) return true;
        if (!overflow_.cancel(n)) return false;
        overflowing_.fetch_sub(1, std::memory_order_relaxed);
        return true;
    }

private:
    template <class Condition>
    bool recheck(node& n, Condition& condition) {
        if (!condition()) return false;
        node* expected = &n;
        // Taken out by a wake meanwhile: then we are woken, which is as good.
        return slot_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
    }

    bool wake_slot() {
        node* n = slot_.exchange(nullptr, std::memory_order_acq_rel);
        if (n == nullptr) return false;
        waker const w = n->wake;
        w();
        return true;
    }

    bool wake_overflow() {
        if (!overflow_.wake_one()) return false;
        overflowing_.fetch_sub(1, std::memory_order_relaxed);
        return true;
    }

    std::atomic<node*> slot_{nullptr};
    std::atomic<std::size_t> overflowing_{0};
    mutex_deque overflow_;
};

} // namespace wakeup
