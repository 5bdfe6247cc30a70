// Design 0, corrected: the deque holds nodes, a node knows whether a wake was claimed for it, and cancel searches the deque.
// Still O(n) per cancel, and the deque allocates.
#pragma once

#include "waker.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

namespace wakeup {

class mutex_deque {
public:
    struct node {
        waker wake;
    };

    template <class Condition>
    bool wait_unless(node& n, waker w, Condition condition) {
        std::lock_guard hold(lock_);
        if (condition()) return true;
        n.wake = w;
        waiters_.push_back(&n);
        size_.store(waiters_.size(), std::memory_order_seq_cst);
        // A wake that read size 0 came before this store, so its change of the condition is visible now.
        if (!condition()) return false;
        waiters_.pop_back();
        size_.store(waiters_.size(), std::memory_order_relaxed);
        return true;
    }

    bool wake_one() {
        if (size_.load(std::memory_order_seq_cst) == 0) return false;
        std::unique_lock hold(lock_);
        if (waiters_.empty()) return false;
        waker const w = waiters_.front()->wake;  // copied: after the pop the node belongs to its waiter again
        waiters_.pop_front();
        size_.store(waiters_.size(), std::memory_order_relaxed);
        hold.unlock();
        w();
        return true;
    }

    std::size_t wake_all() {
        if (size_.load(std::memory_order_seq_cst) == 0) return 0;
        auto const taken = take_all();
        for (node* n : taken) n->wake();
        return taken.size();
    }

    // The nodes stay alive: cancel finds them no more, so their waiters wait for the waker.
    std::deque<node*> take_all() {
        std::deque<node*> taken;
        std::lock_guard hold(lock_);
        taken.swap(waiters_);
        size_.store(0, std::memory_order_relaxed);
        return taken;
    }

    bool cancel(node& n) {
        std::lock_guard hold(lock_);
        auto const at = std::find(waiters_.begin(), waiters_.end(), &n);
        if (at == waiters_.end()) return false;
        waiters_.erase(at);
        size_.store(waiters_.size(), std::memory_order_relaxed);
        return true;
    }

private:
    std::mutex lock_;
    std::deque<node*> waiters_;
    std::atomic<std::size_t> size_{0};
};

}  // namespace wakeup
