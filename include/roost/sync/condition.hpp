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
// Cancelled or expired: `held` owns nothing; if notify_one had chosen it, the next one is notified, and the mutex is passed on.
// Threads: always return with the mutex held. Destroy: when nobody waits. Whoever was notified by notify_all waits for the
// mutex only; whoever was chosen by notify_one may still have to pass that on, until it runs or has been cancelled.
//
// A coroutine's node is first in this list and then in the mutex's; both locks are held while it moves, this one first, never
// the other way round. Where it is can be seen without a lock, once it has moved.
//
// id  operation                  order    pairs  carries                                    fails in
// N1  moved: store               release  N2     out: which mutex                           condition_model: notify_vs_early_cancel
// N2  moved? load                acquire  N1     in: the same; the mutex's lock then        condition_model: notify_vs_early_cancel
//                                                orders the cancel after the move
// N3  queued here again: store   relaxed  -      nothing: under the lock, as is N4
// N4  under the lock, or by the  relaxed  -      nothing
//     one that has it: load

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/mutex.hpp>

#include <concepts>
#include <utility>

namespace roost::inline ROOST_ABI {

class condition {
public:
    class operation;

    constexpr explicit condition(literal name = "") noexcept : name_(name.text()) {}
    ~condition();

    // held must own its mutex.
    [[nodiscard("it waits only when it is awaited: write co_await")]] operation wait(mutex::guard& held) noexcept;
    void wait_blocking(mutex::guard& held) noexcept { static_cast<void>(wait_blocking(held, no_deadline)); }
    // False when the deadline passed; the mutex is held either way.
    bool wait_blocking(mutex::guard& held, time_limit deadline) noexcept;
    template <std::predicate Predicate>
    void wait_blocking(mutex::guard& held, Predicate is_true) {
        while (!is_true()) {
            wait_blocking(held);
        }
    }
    // The same until the deadline; says whether it is true.
    template <std::predicate Predicate>
    [[nodiscard]] bool wait_blocking(mutex::guard& held, Predicate is_true, time_limit deadline) {
        while (!is_true()) {
            if (!wait_blocking(held, deadline)) {
                return is_true();
            }
        }
        return true;
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
    enum class place : std::uint8_t {
        here,
        moved,  // to the mutex's queue, with everybody
        moved_for_one,  // the same, by notify_one: if it gives up, the next is notified
    };
    // A coroutine's place, first here and then in the mutex's queue.
    class node : public detail::weighted_waiter {
    public:
        node() noexcept : weighted_waiter(1) {}
        node(node&& other) noexcept : weighted_waiter(std::move(other)) {}
        plain<mutex*> wanted{nullptr};
        atomic<place> at{place::here};
    };

    void enqueue(waiter& w) noexcept;
    [[nodiscard]] bool cancel_moved(node& w, claim as, place at) noexcept;
    [[nodiscard]] bool cancel(node& w, claim as) noexcept;
    [[nodiscard]] bool cancel_thread(waiter& w) noexcept;
    void notify(std::size_t n) noexcept;
    [[nodiscard]] wait_target describe() const noexcept { return {"condition", name_}; }
    [[nodiscard]] mutex& mutex_of(mutex::guard& held) const noexcept;

    detail::wait_list waiters_;
    const char* name_;
};

class [[nodiscard("it waits only when it is awaited: write co_await")]] condition::operation {
public:
    operation(condition& on, mutex::guard& held) noexcept : on_(&on), held_(&held) {}
    operation(operation&&) noexcept = default;
    ~operation();

    [[nodiscard]] bool await_ready() noexcept {
        set_awaited();
        return false;
    }
    void set_awaited() noexcept { node_.set_awaited(); }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return start(resume_target::of(handle));
    }
    void await_resume() noexcept {
        end_wait();
        if constexpr (detail::notes_lock_takers) {
            detail::note_lock_taker(node_.wanted.get(), nullptr);
        }
    }

    [[nodiscard]] bool start(const resume_target& target) noexcept;
    bool try_cancel(claim as = claim::cancelled) noexcept { return on_->cancel(node_, as); }
    [[nodiscard]] waiter& node() noexcept { return node_; }
    // For the mutex, once it was notified.
    [[nodiscard]] wait_target waits_on() const noexcept {
        const bool has_moved = node_.at.load(mo::relaxed) != place::here;  // N4
        return has_moved ? node_.wanted.get()->core().describe() : on_->describe();
    }

private:
    void end_wait() noexcept;

    condition* on_;
    mutex::guard* held_;
    condition::node node_;
};

inline condition::operation condition::wait(mutex::guard& held) noexcept { return {*this, held}; }

}  // namespace roost::inline ROOST_ABI
