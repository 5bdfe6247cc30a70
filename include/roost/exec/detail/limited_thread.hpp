#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/clock.hpp>

#include <chrono>

namespace roost::inline ROOST_ABI::detail {

// A thread of a limited set. While it waits for a task, the task may need another thread of the set.
class limited_thread {
public:
    // Returns that of the calling thread; null if the thread is not one of a limited set.
    [[nodiscard]] static limited_thread*& of_this_thread() noexcept {
        struct tag;
        return thread_value<tag, limited_thread*>::get();
    }

    virtual void begin_wait() noexcept = 0;
    // Called every few milliseconds between begin_wait() and end_wait().
    virtual void still_waits() noexcept = 0;
    virtual void end_wait() noexcept = 0;
    // Called before work on this thread delivers its result to an executor. Returns false if the set has abandoned the thread:
    // the executor may be gone.
    [[nodiscard]] virtual bool may_deliver() noexcept = 0;
    // Called first by the code that uses the result.
    virtual void has_delivered() noexcept = 0;

    // The same for the calling thread, whether or not it is one of a set.
    [[nodiscard]] static bool may_deliver_here() noexcept {
        limited_thread* mine = of_this_thread();
        return mine == nullptr || mine->may_deliver();
    }
    static void has_delivered_here() noexcept {
        if (limited_thread* mine = of_this_thread()) {
            mine->has_delivered();
        }
    }

protected:
    ~limited_thread() = default;
};

// Blocks until the event `ended` is set.
template <class Event>
void wait_for_task(Event& ended) noexcept {
    limited_thread* mine = limited_thread::of_this_thread();
    if (mine == nullptr) {
        ended.wait_blocking();
        return;
    }
    constexpr duration period = std::chrono::milliseconds(20);
    mine->begin_wait();
    while (!ended.wait_blocking(deadline_after(now(), period))) {
        mine->still_waits();
    }
    mine->end_wait();
}

}  // namespace roost::inline ROOST_ABI::detail
