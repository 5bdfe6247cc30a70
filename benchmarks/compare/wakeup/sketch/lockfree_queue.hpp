// The third sketch as it is written: push into a lock-free queue, then look at the condition again.
// Kept for the tests that show its defects; do not use.
#pragma once

#include "../waker.hpp"

namespace wakeup::sketch {

// `Queue` has push(waker) and bool pop(waker&); what goes wrong does so with any.
template <class Queue>
class lockfree_queue {
public:
    template <class Condition>
    bool wait_unless(waker w, Condition condition) {
        if (condition()) return true;
        waiters_.push(w);
        return condition();   // true leaves the entry behind: "we're in the queue but that's OK"
    }

    void wake_one() {
        waker w;
        if (waiters_.pop(w)) w();
    }

    void wake_all() {
        waker w;
        while (waiters_.pop(w)) w();
    }

private:
    Queue waiters_;
};

} // namespace wakeup::sketch
