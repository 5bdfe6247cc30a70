#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/clock.hpp>

#include <chrono>

namespace roost::inline ROOST_ABI::detail {

// A thread of a limited set, while it waits for a task: the task may need another thread of the set.
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
