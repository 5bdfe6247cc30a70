// The fourth sketch as it is written: nodes in the waiters, head and tail swung by compare-exchange. What the sketch leaves
// out ("complex atomic list manipulation") is filled in with the plainest code that fits it: the new tail is linked
// behind the old one. Kept for the tests that show its defects; do not use.
#pragma once

#include "../waker.hpp"

#include <atomic>

namespace wakeup::sketch {

struct intrusive_node {
    waker wake;
    std::atomic<intrusive_node*> next{nullptr};
};

struct no_hook {
    void operator()() const noexcept {}
};

// `Hook` runs in the window between reading head and swinging it.
template <class Hook = no_hook>
class intrusive_list {
public:
    explicit intrusive_list(Hook hook = {}) : hook_(hook) {}

    template <class Condition>
    bool wait_unless(intrusive_node& node, waker w, Condition condition) {
        if (condition()) return true;
        node.wake = w;
        node.next.store(nullptr);
        auto* tail = tail_.load(std::memory_order_acquire);
        while (!tail_.compare_exchange_weak(tail, &node, std::memory_order_release, std::memory_order_acquire)) {}
        if (tail == nullptr)
            head_.store(&node, std::memory_order_release);
        else
            tail->next.store(&node, std::memory_order_release);
        return condition();
    }

    void wake_one() {
        for (;;) {
            auto* head = head_.load(std::memory_order_acquire);
            if (head == nullptr) return;
            auto* next = head->next.load(std::memory_order_acquire);   // head may be gone by now
            hook_();
            if (head_.compare_exchange_strong(head, next, std::memory_order_release, std::memory_order_acquire)) {
                head->wake();
                return;
            }
        }
    }

private:
    Hook hook_;
    std::atomic<intrusive_node*> head_{nullptr};
    std::atomic<intrusive_node*> tail_{nullptr};
};

} // namespace wakeup::sketch
