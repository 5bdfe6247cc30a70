#pragma once

#include <roost/exec/detail/activity.hpp>
#include <roost/exec/work.hpp>

namespace roost::inline ROOST_ABI {

// Work that may block its thread. Intrusive, like all work.
class blocking_work : public work {
public:
    using work::work;

    // Name and site for reports. The text must outlive the work.
    void set_label(const detail::activity_label& what) noexcept { label_ = what; }
    [[nodiscard]] const detail::activity_label& label() const noexcept { return label_; }

    // For services: the second link of their queue, and true while it is queued.
    blocking_work* prev = nullptr;
    bool queued = false;

private:
    detail::activity_label label_;
};

// Threads that may block: the blocking lane of a runtime, or of virtual time.
class blocking_service {
public:
    blocking_service() = default;
    blocking_service(const blocking_service&) = delete;
    blocking_service& operator=(const blocking_service&) = delete;

    // Enqueues w. Returns false if the service is closed; then w does not run. Thread-safe.
    virtual bool submit(blocking_work& w) noexcept = 0;
    // Returns true if w has not started and never will. Requires that w was submitted. Thread-safe.
    virtual bool withdraw(blocking_work& w) noexcept = 0;

protected:
    ~blocking_service() = default;
};

namespace detail {

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

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
