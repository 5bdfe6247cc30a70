#pragma once

// Mutual exclusion for coroutines and threads.
//
//   { auto held = co_await accounts.lock(); ... }      unlocked by the guard
//   auto held = accounts.lock_blocking();              in a thread
//
// unlock() hands the mutex to the first waiter. No newcomer overtakes a coroutine that is first in the queue.
// A thread spins briefly, then parks. While a parked thread is first, running threads may overtake the queue for at most 200
// releases. With fairness::barging there is no bound, and try_lock() may overtake as well.
// Not recursive. Not bound to a thread: a coroutine may unlock on another one.
//
// Resumes: on the coroutine's executor; without one, inside unlock() on the calling thread, after it has released every lock.
// Cancelled: a mutex that was handed to the waiter goes to the next one.
// Destroy: when no waiter is queued. The last holder may destroy it, even while the unlock() before it is still returning.

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/permits.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

class mutex {
public:
    class guard;
    using operation = detail::permit_operation<mutex, guard>;

    constexpr explicit mutex(literal name = "", fairness how = fairness::hand_off) noexcept
        : permits_(1, how, detail::permits::mutex_kind, name.text()) {}

    [[nodiscard("nothing is held until it is awaited: write co_await")]] operation lock() noexcept;
    guard try_lock() noexcept;  // returns an empty guard if the mutex is locked or a waiter is queued
    guard lock_blocking() noexcept;
    guard lock_blocking(time_limit deadline) noexcept;  // returns an empty guard if the deadline passed

    // For a lock that guard::release() detached. Unlocking a mutex that is not locked ends the program.
    void unlock() noexcept;

    [[nodiscard]] bool is_locked() const noexcept { return permits_.available() == 0; }
    [[nodiscard]] std::size_t waiters_now() const noexcept { return permits_.waiters_now(); }
    [[nodiscard]] const char* name() const noexcept { return permits_.name(); }

private:
    friend detail::sync_access;
    static constexpr bool is_exclusive = true;
    static constexpr const char* take_call = "lock()";

    // Returns the guard of a lock that was just taken. Records no job as its taker.
    [[nodiscard]] guard taken() noexcept;

    detail::permits permits_;
};

// Owns the lock of a mutex, or nothing.
class [[nodiscard("the lock is released at once unless the guard has a name")]] mutex::guard {
public:
    guard() noexcept = default;
    explicit guard(mutex& held, std::uint32_t = 1) noexcept : mutex_(&held) {
        if (detail::holdings::is_on()) [[unlikely]] {
            note_taken();
        }
    }
    guard(guard&& other) noexcept : mutex_(other.mutex_) { other.move_to(*this); }
    guard& operator=(guard&& other) noexcept {
        guard(std::move(other)).swap(*this);
        return *this;
    }
    ~guard() {
        if (mutex_ != nullptr) {
            forget_holding();
            mutex_->unlock();
        }
    }

    [[nodiscard]] bool owns_lock() const noexcept { return mutex_ != nullptr; }
    [[nodiscard]] explicit operator bool() const noexcept { return owns_lock(); }
    // Requires owns_lock(). Checked builds report a violation as misuse; other builds ignore it.
    void unlock() noexcept {
        if (mutex_ != nullptr) {
            forget_holding();
            std::exchange(mutex_, nullptr)->unlock();
        } else if constexpr (ROOST_CHECKED != 0) {
            detail::report_nothing_held(
                "mutex guard",
                "unlock() of a guard that holds no lock: it was moved from, released or unlocked before; call it "
                "on the guard that it was moved to, or delete the call: the destructor unlocks");
        }
    }
    // Releases ownership and leaves the mutex locked. Returns the mutex; the caller has to unlock() it.
    mutex* release() noexcept {
        forget_taker();
        forget_holding();
        return std::exchange(mutex_, nullptr);
    }
    void swap(guard& other) noexcept {
        guard mine(std::move(*this));
        mutex_ = other.mutex_;
        other.move_to(*this);
        other.mutex_ = mine.mutex_;
        mine.move_to(other);
    }

private:
    friend class condition;

    // For a mutex that a condition has locked again.
    void hold(mutex& m) noexcept {
        mutex_ = &m;
        if (detail::holdings::is_on()) [[unlikely]] {
            note_taken();
        }
    }
    // The last step of a move: `to` has the mutex already.
    void move_to(guard& to) noexcept {
        if (mutex_ != nullptr) {
            forget_taker();
            if (detail::holdings::is_on()) [[unlikely]] {
                detail::holdings::moved(key(), this, &to);
            }
            mutex_ = nullptr;
        }
    }
    [[nodiscard]] const void* key() const noexcept { return &mutex_->permits_; }
    [[gnu::noinline, gnu::cold]] void note_taken() const noexcept {
        detail::holdings::took(key(), this, 1, [](const void*) noexcept { return std::uint32_t(1); });
    }
    void forget_holding() const noexcept {
        if (detail::holdings::is_on() && mutex_ != nullptr) [[unlikely]] {
            detail::holdings::gave(key(), this);
        }
    }
    // A guard that moves may go to another job.
    void forget_taker() const noexcept {
        if constexpr (detail::notes_lock_takers) {
            if (mutex_ != nullptr) {
                detail::note_lock_taker(mutex_, nullptr);
            }
        }
    }

    mutex* mutex_ = nullptr;
};

inline mutex::operation mutex::lock() noexcept { return {*this, 1}; }
inline void mutex::unlock() noexcept {
    if constexpr (detail::notes_lock_takers) {
        detail::note_lock_taker(this, nullptr);
    }
    permits_.give_only();
}
inline mutex::guard mutex::taken() noexcept {
    if constexpr (detail::notes_lock_takers) {
        detail::note_lock_taker(this, nullptr);
    }
    return guard(*this);
}
inline mutex::guard mutex::try_lock() noexcept { return permits_.try_take_only() ? taken() : guard(); }
inline mutex::guard mutex::lock_blocking() noexcept { return lock_blocking(no_deadline); }
inline mutex::guard mutex::lock_blocking(time_limit deadline) noexcept {
    return permits_.try_take_only() || permits_.take_in_thread(1, deadline) ? taken() : guard();
}

}  // namespace roost::inline ROOST_ABI
