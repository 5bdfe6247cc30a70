#pragma once

#include <roost/exec/activity.hpp>
#include <roost/exec/work.hpp>

namespace roost::inline ROOST_ABI {

// Work that may block its thread. Lives in the object that wants it done, like all work.
class blocking_work : public work {
public:
    using work::work;

    // Name and origin for reports. The text must outlive the work; empty if there is none.
    void set_label(const activity_label& what) noexcept { label_ = what; }
    [[nodiscard]] const activity_label& label() const noexcept { return label_; }

    // For services: the other link of their queue, and whether it is in it.
    blocking_work* prev = nullptr;
    bool queued = false;

private:
    activity_label label_;
};

// Threads that are allowed to block: the blocking lane of a runtime, or of virtual time.
class blocking_service {
public:
    blocking_service() = default;
    blocking_service(const blocking_service&) = delete;
    blocking_service& operator=(const blocking_service&) = delete;

    // From any thread. False when closed: it will not run.
    virtual bool submit(blocking_work& w) noexcept = 0;
    // From any thread, while submitted and not destroyed. True: it has not started and never will.
    virtual bool withdraw(blocking_work& w) noexcept = 0;

protected:
    ~blocking_service() = default;
};

namespace detail {

// A thread with a limited number of siblings that waits for a task: the task may need one of them.
class limited_thread {
public:
    // Of the calling thread; null for threads that are not limited.
    [[nodiscard]] static limited_thread*& of_this_thread() noexcept {
        struct tag;
        return thread_value<tag, limited_thread*>::get();
    }

    virtual void begin_wait() noexcept = 0;
    // Every few milliseconds while it waits.
    virtual void still_waits() noexcept = 0;
    virtual void end_wait() noexcept = 0;

protected:
    ~limited_thread() = default;
};

// Blocks until `ended`, an event, is set.
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
