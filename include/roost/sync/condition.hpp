#pragma once

// Waits for a notification about the state that a mutex protects. The mutex is unlocked during the wait.
//
//   auto held = co_await m.lock();
//   while (queue.empty()) { co_await not_empty.wait(held); }
//   ...
//   not_empty.notify_one();
//
// A notified coroutine moves straight to the mutex's queue, so it is resumed only when it owns the mutex. Notifying a hundred
// waiters does not make them compete for it. A notification without a waiter is not stored.
//
// Resumes: with the mutex held, on the coroutine's executor. Without an executor, on the thread that notified or unlocked,
// outside every lock. Blocked threads always return with the mutex held.
// Cancelled or expired: `held` owns nothing. If notify_one() had chosen the waiter, the next one is notified, and the mutex
// is handed on.
// Destroy: when no waiter is queued. Waiters that notify_all() notified need only the mutex. A waiter that notify_one()
// chose needs the condition until it runs or is cancelled: a cancel passes the notification on.
//
// A coroutine's node is first in this list and then in the mutex's. Both locks are held while it moves, this one first, never
// the other way round. Once it has moved, that can be read without a lock.
//
// id  operation                  order    pairs  carries                                    fails in
// N1  moved: store               release  N2     out: which mutex                           condition_model: notify_vs_early_cancel
// N2  moved? load                acquire  N1     in: the same; the mutex's lock then        condition_model: notify_vs_early_cancel
//                                                orders the cancel after the move
// N3  queued here again: store   relaxed  -      nothing: under the lock, as is N4
// N4  under the lock, or by its  relaxed  -      nothing
//     owner: load

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

    // Requires that held owns its mutex.
    [[nodiscard("it waits only when it is awaited: write co_await")]] operation wait(mutex::guard& held) noexcept;
    void wait_blocking(mutex::guard& held) noexcept { static_cast<void>(wait_blocking(held, no_deadline)); }
    // Returns false if the deadline passed. The mutex is held either way.
    bool wait_blocking(mutex::guard& held, time_limit deadline) noexcept;
    template <std::predicate Predicate>
    void wait_blocking(mutex::guard& held, Predicate is_true) {
        while (!is_true()) {
            wait_blocking(held);
        }
    }
    // As above, until the deadline. Returns what the predicate returned last.
    template <std::predicate Predicate>
    [[nodiscard]] bool wait_blocking(mutex::guard& held, Predicate is_true, time_limit deadline) {
        while (!is_true()) {
            if (!wait_blocking(held, deadline)) {
                return is_true();
            }
        }
        return true;
    }

    // Costs one load when no waiter is queued. Call it with the mutex held: then no waiter can miss it.
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
    enum class queued : std::uint8_t {
        here,
        moved,  // to the mutex's queue, by notify_all
        moved_for_one,  // to the mutex's queue, by notify_one: if it is cancelled, the next waiter is notified
    };
    // A coroutine's entry, first here and then in the mutex's queue.
    class node : public detail::weighted_waiter {
    public:
        node() noexcept : weighted_waiter(1) {}
        node(node&& other) noexcept : weighted_waiter(std::move(other)) {}
        seam::plain<mutex*> wanted{nullptr};
        seam::atomic<queued> at{queued::here};
    };

    void enqueue(ext::waiter& w) noexcept;
    [[nodiscard]] bool cancel_moved(node& w, ext::claim as, queued at) noexcept;
    [[nodiscard]] bool cancel(node& w, ext::claim as) noexcept;
    [[nodiscard]] bool cancel_thread(ext::waiter& w) noexcept;
    void notify(std::size_t n) noexcept;
    [[nodiscard]] ext::wait_target describe() const noexcept { return {"condition", name_}; }
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
        return start(ext::resume_target::of(handle));
    }
    void await_resume() noexcept {
        end_wait();
        if constexpr (detail::notes_lock_takers) {
            detail::note_lock_taker(node_.wanted.get(), nullptr);
        }
    }

    [[nodiscard]] bool start(const ext::resume_target& target) noexcept;
    bool try_cancel(ext::claim as = ext::claim::cancelled) noexcept { return on_->cancel(node_, as); }
    [[nodiscard]] ext::waiter& node() noexcept { return node_; }
    static constexpr bool takes_permits = true;
    // For another thread. Once notified, it waits for the mutex.
    [[nodiscard]] detail::wait_subject subject() const noexcept {
        if (node_.at.load(seam::mo::acquire) == queued::here) {  // N2
            return {.of = on_, .is_pending = !node_.is_claimed()};
        }
        return {.of = &detail::sync_access::permits_of(*node_.wanted.get()), .need = 1, .is_pending = !node_.is_claimed()};
    }
    // Returns the mutex once the waiter has been notified.
    [[nodiscard]] ext::wait_target waits_on() const noexcept {
        const bool has_moved = node_.at.load(seam::mo::relaxed) != queued::here;  // N4
        return has_moved ? detail::sync_access::permits_of(*node_.wanted.get()).describe() : on_->describe();
    }

private:
    void end_wait() noexcept;

    condition* on_;
    mutex::guard* held_;
    condition::node node_;
};

inline condition::operation condition::wait(mutex::guard& held) noexcept { return {*this, held}; }

}  // namespace roost::inline ROOST_ABI
