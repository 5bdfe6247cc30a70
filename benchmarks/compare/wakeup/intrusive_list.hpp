// Design 3, corrected: the lock-free pop of the sketch cannot be made safe without hazard pointers or tags, so the list is
// doubly linked under a lock of one byte that is held for a few instructions: O(1) unlink, no allocation, no ABA.
#pragma once

#include "waker.hpp"

#include <atomic>
#include <thread>

namespace wakeup {

class intrusive_list {
    struct link {
        link* next = this;
        link* prev = this;
    };

public:
    struct node : private link {
        waker wake;
        bool queued = false;

    private:
        friend class intrusive_list;
    };

    template <class Condition>
    bool wait_unless(node& n, waker w, Condition condition) {
        if (condition()) return true;
        n.wake = w;
        hold h(*this);
        push_back(n);
        size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
        if (!condition()) return false;
        unlink(n);
        return true;
    }

    bool wake_one() {
        if (size_.load(std::memory_order_seq_cst) == 0) return false;
        waker w;
        {
            hold h(*this);
            if (list_.next == &list_) return false;
            node& n = *static_cast<node*>(list_.next);
            unlink(n);
            w = n.wake;
        }
        w();
        return true;
    }

    std::size_t wake_all() {
        if (size_.load(std::memory_order_seq_cst) == 0) return 0;
        link* first = nullptr;
        {
            hold h(*this);
            if (list_.next == &list_) return 0;
            for (link* at = list_.next; at != &list_; at = at->next) static_cast<node*>(at)->queued = false;
            first = list_.next;
            list_.prev->next = nullptr;
            list_.next = list_.prev = &list_;
            size_.store(0, std::memory_order_relaxed);
        }
        std::size_t count = 0;
        for (link* next = nullptr; first != nullptr; first = next, ++count) {
            next = first->next;   // before the call: it may end the node's life
            static_cast<node*>(first)->wake();
        }
        return count;
    }

    bool cancel(node& n) {
        hold h(*this);
        if (!n.queued) return false;
        unlink(n);
        return true;
    }

private:
    class hold {
    public:
        explicit hold(intrusive_list& q) : lock_(q.lock_) {
            for (int spins = 0; lock_.exchange(true, std::memory_order_acquire); ++spins) {
                if (spins > 100) std::this_thread::yield();
            }
        }
        hold(hold const&) = delete;
        ~hold() { lock_.store(false, std::memory_order_release); }

    private:
        std::atomic<bool>& lock_;
    };

    void push_back(node& n) {
        n.prev = list_.prev;
        n.next = &list_;
        list_.prev->next = &n;
        list_.prev = &n;
        n.queued = true;
    }
    void unlink(node& n) {
        n.prev->next = n.next;
        n.next->prev = n.prev;
        n.queued = false;
        size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }

    std::atomic<bool> lock_{false};
    std::atomic<std::size_t> size_{0};
    link list_;
};

} // namespace wakeup
