#pragma once

// Waits, with a mutex released meanwhile, until somebody who changed the protected state says so.
//
//   auto held = co_await m.lock();
//   while (queue.empty()) { co_await not_empty.wait(held); }
//   ...
//   not_empty.notify_one();
//
// A coroutine that is notified goes straight into the mutex's queue, so it is resumed only when it owns the mutex: notifying
// a hundred does not make a hundred of them fight for it. A notification that finds nobody is not remembered.
//
// Resumes: with the mutex held, on the coroutine's executor, or on the thread that notified or unlocked, outside every lock.
// Cancelled or expired: `held` owns nothing; a notification it had been given is passed on as the mutex is. Threads: always
// return with the mutex held. Destroy: when nobody waits.
// Uses the list's lock only, and under it the lock of the mutex's list, never the other way round: no orderings of its own.

#include <roost/sync/mutex.hpp>

namespace roost::inline ROOST_ABI {

class condition {
public:
    class operation;

    constexpr explicit condition(const char* name = "") noexcept : name_(name) {}
    ~condition();

    // held must own its mutex.
    [[nodiscard]] operation wait(mutex::guard& held) noexcept;
    void wait_blocking(mutex::guard& held) noexcept { static_cast<void>(wait_blocking(held, no_deadline)); }
    // False when the deadline passed; the mutex is held either way.
    bool wait_blocking(mutex::guard& held, time_point deadline) noexcept;
    template <class Predicate>
    void wait_blocking(mutex::guard& held, Predicate is_true) {
        while (!is_true()) {
            wait_blocking(held);
        }
    }

    // One load when nobody waits. Best called with the mutex held: then nobody can miss it.
    void notify_one() noexcept {
        if (!waiters_.is_idle()) {
            notify(1);
        }
    }
    void notify_all() noexcept {
        if (!waiters_.is_idle()) {
            notify(SIZE_MAX);
        }
    }

    [[nodiscard]] std::size_t waiters_now() const noexcept { return waiters_.size_approx(); }
    [[nodiscard]] const char* name() const noexcept { return name_; }

private:
    // A coroutine's place, first here and then in the mutex's queue; has_moved belongs to this list's lock.
    class node : public detail::weighted_waiter {
    public:
        node() noexcept : weighted_waiter(1) {}
        node(node&&) noexcept = default;
        mutex* wanted = nullptr;
        bool has_moved = false;
    };

    void enqueue(waiter& w) noexcept;
    [[nodiscard]] bool cancel(node& w, claim as) noexcept;
    [[nodiscard]] bool cancel_thread(waiter& w) noexcept;
    void notify(std::size_t n) noexcept;
    [[nodiscard]] wait_target describe() const noexcept { return {"condition", name_}; }
    [[nodiscard]] mutex& mutex_of(mutex::guard& held) const noexcept;

    detail::wait_list waiters_;
    const char* name_;
};

class [[nodiscard]] condition::operation {
public:
    operation(condition& on, mutex::guard& held) noexcept : on_(&on), held_(&held) {}
    operation(operation&&) noexcept = default;
    ~operation();

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return start(resume_target::of(handle));
    }
    void await_resume() noexcept;

    [[nodiscard]] bool start(const resume_target& target) noexcept;
    bool try_cancel(claim as = claim::cancelled) noexcept { return on_->cancel(node_, as); }
    [[nodiscard]] waiter& node() noexcept { return node_; }
    [[nodiscard]] wait_target waits_on() const noexcept { return on_->describe(); }

private:
    condition* on_;
    mutex::guard* held_;
    condition::node node_;
};

inline condition::operation condition::wait(mutex::guard& held) noexcept { return {*this, held}; }

}  // namespace roost::inline ROOST_ABI
