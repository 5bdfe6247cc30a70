// The first sketch as it is written: a deque of wakers under a mutex, and nothing that takes a waiter out again.
// Kept for the test that shows its defect; do not use.
#pragma once

#include "../waker.hpp"

#include <deque>
#include <mutex>

namespace wakeup::sketch {

class mutex_deque {
public:
    template <class Condition>
    bool wait_unless(waker w, Condition condition) {
        std::lock_guard hold(lock_);
        if (condition()) return true;
        waiters_.push_back(w);
        return false;
    }

    void wake_one() {
        std::unique_lock hold(lock_);
        if (waiters_.empty()) return;
        waker const w = waiters_.front();
        waiters_.pop_front();
        hold.unlock();
        w();
    }

private:
    std::mutex lock_;
    std::deque<waker> waiters_;
};

} // namespace wakeup::sketch
