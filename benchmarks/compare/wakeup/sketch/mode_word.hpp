// The second sketch as it is written: empty / single / multi, a lock-free slot for the single waiter, a locked deque for
// the rest. Kept for the tests that show its defects; do not use.
#pragma once

#include "../waker.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace wakeup::sketch {

class mode_word {
public:
    template <class Condition>
    bool wait_unless(waker w, Condition condition) {
        if (condition()) return true;
        int seen = empty;
        if (mode_.load(std::memory_order_acquire) == empty &&
            mode_.compare_exchange_strong(seen, single, std::memory_order_acq_rel, std::memory_order_acquire)) {
            register_single(w);
            if (condition()) {
                mode_.store(empty, std::memory_order_release);
                return true;
            }
            return false;
        }
        std::lock_guard hold(lock_);
        if (condition()) return true;
        multi_.push_back(w);
        mode_.store(multi, std::memory_order_release);
        return false;
    }

    void wake_one() {
        int mode = mode_.load(std::memory_order_acquire);
        if (mode == empty) return;
        if (mode == single &&
            mode_.compare_exchange_strong(mode, empty, std::memory_order_acq_rel, std::memory_order_acquire)) {
            wake_single();
        } else {
            wake_from_multi();
        }
    }

private:
    enum : int { empty, single, multi };

    // Stands for the AtomicWaker of the sketch: register replaces, wake takes.
    void register_single(waker w) {
        std::lock_guard hold(slot_lock_);
        slot_ = w;
    }
    void wake_single() {
        std::optional<waker> w;
        {
            std::lock_guard hold(slot_lock_);
            w = std::exchange(slot_, std::nullopt);
        }
        if (w) (*w)();
    }
    void wake_from_multi() {
        std::unique_lock hold(lock_);
        if (multi_.empty()) return;
        waker const w = multi_.front();
        multi_.pop_front();
        if (multi_.empty()) mode_.store(empty, std::memory_order_release);
        hold.unlock();
        w();
    }

    std::atomic<int> mode_{empty};
    std::mutex slot_lock_;
    std::optional<waker> slot_;
    std::mutex lock_;
    std::deque<waker> multi_;
};

} // namespace wakeup::sketch
