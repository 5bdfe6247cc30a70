#pragma once

// Many readers or one writer.
//
//   { auto reading = co_await table.lock_shared(); ... }
//   { auto writing = co_await table.lock(); ... }
//
// First come, first served: a waiting writer makes later readers wait behind it, so neither side starves. Neighbouring
// readers are admitted together. Internally a reader holds one permit and a writer holds all max_readers. Requires fewer
// than max_readers readers at a time. That many readers cannot be distinguished from a writer, and unlocking ends the
// program.
//
// Resumes, cancelled, destroy, threads: as in mutex.

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/permits.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

class shared_mutex {
    template <bool Shared>
    class basic_guard;

public:
    using guard = basic_guard<false>;
    using shared_guard = basic_guard<true>;
    using operation = detail::permit_operation<shared_mutex, guard>;
    using shared_operation = detail::permit_operation<shared_mutex, shared_guard>;
    static constexpr std::uint32_t max_readers = detail::permit_state::max;

    constexpr explicit shared_mutex(literal name = "") noexcept
        : permits_(max_readers, fairness::hand_off, detail::permits::shared_mutex_kind, name.text()) {}

    [[nodiscard("nothing is held until it is awaited: write co_await")]] operation lock() noexcept {
        return {*this, max_readers};
    }
    guard try_lock() noexcept;
    guard lock_blocking() noexcept;
    guard lock_blocking(time_limit deadline) noexcept;  // returns an empty guard if the deadline passed

    [[nodiscard("nothing is held until it is awaited: write co_await")]] shared_operation lock_shared() noexcept {
        return {*this, 1};
    }
    shared_guard try_lock_shared() noexcept;
    shared_guard lock_shared_blocking() noexcept;
    shared_guard lock_shared_blocking(time_limit deadline) noexcept;

    // For a lock that release() of its guard detached. Unlocking in a mode that is not locked ends the program.
    void unlock() noexcept {
        if (permits_.available() != 0) {
            permits_.misuse("it was unlocked although no writer had locked it");
        }
        permits_.give(max_readers);  // mutate
    }
    void unlock_shared() noexcept {
        if (permits_.available() == 0) {
            permits_.misuse("it was unlocked by a reader while a writer had locked it");
        }
        permits_.give(1);  // mutate
    }

    [[nodiscard]] std::uint32_t readers_now() noexcept {
        const std::uint32_t used = permits_.in_use();
        return used == max_readers ? 0 : used;
    }
    [[nodiscard]] bool is_locked() const noexcept { return permits_.available() == 0; }  // by a writer
    [[nodiscard]] std::size_t waiters_now() const noexcept { return permits_.waiters_now(); }
    [[nodiscard]] const char* name() const noexcept { return permits_.name(); }

private:
    friend detail::sync_access;
    static constexpr bool is_exclusive = false;
    static constexpr const char* take_call = "lock() or lock_shared()";

    detail::permits permits_;
};

// Owns the lock of a shared_mutex as a reader or as the writer, or nothing.
template <bool Shared>
class [[nodiscard("the lock is released at once unless the guard has a name")]] shared_mutex::basic_guard {
public:
    basic_guard() noexcept = default;
    explicit basic_guard(shared_mutex& held, std::uint32_t = 0) noexcept : mutex_(&held) {
        if (detail::holdings::is_on()) [[unlikely]] {
            note_taken();
        }
    }
    basic_guard(basic_guard&& other) noexcept : mutex_(other.mutex_) { other.move_to(*this); }
    basic_guard& operator=(basic_guard&& other) noexcept {
        basic_guard moved(std::move(other));
        basic_guard old(std::move(*this));
        mutex_ = moved.mutex_;
        moved.move_to(*this);
        return *this;
    }
    ~basic_guard() {
        if (mutex_ != nullptr) {
            unlock();
        }
    }

    [[nodiscard]] bool owns_lock() const noexcept { return mutex_ != nullptr; }
    [[nodiscard]] explicit operator bool() const noexcept { return owns_lock(); }
    // Requires owns_lock(). Checked builds report a violation as misuse; other builds ignore it.
    void unlock() noexcept {
        forget_holding();
        shared_mutex* held = std::exchange(mutex_, nullptr);
        if (held == nullptr) {
            if constexpr (ROOST_CHECKED != 0) {
                detail::report_nothing_held(
                    "shared_mutex guard",
                    "unlock() of a guard that holds no lock: it was moved from, released or unlocked before; call it "
                    "on the guard that it was moved to, or delete the call: the destructor unlocks");
            }
        } else if constexpr (Shared) {
            held->unlock_shared();
        } else {
            held->unlock();
        }
    }
    shared_mutex* release() noexcept {
        forget_holding();
        return std::exchange(mutex_, nullptr);
    }

    // Turns the writer into a reader; no other writer locks in between. Returns an empty guard if this one is empty.
    [[nodiscard]] basic_guard<true> downgrade() noexcept
        requires(!Shared)
    {
        forget_holding();
        shared_mutex* held = std::exchange(mutex_, nullptr);
        if (held == nullptr) {
            return {};
        }
        held->permits_.give(max_readers - 1);  // mutate
        return basic_guard<true>(*held);
    }

private:
    // The last step of a move: `to` has the mutex already.
    void move_to(basic_guard& to) noexcept {
        if (detail::holdings::is_on() && mutex_ != nullptr) [[unlikely]] {
            detail::holdings::moved(key(), this, &to);
        }
        mutex_ = nullptr;
    }
    [[nodiscard]] const void* key() const noexcept { return &mutex_->permits_; }
    [[gnu::noinline, gnu::cold]] void note_taken() const noexcept {
        detail::holdings::took(key(), this, Shared ? 1 : max_readers, [](const void*) noexcept { return max_readers; });
    }
    void forget_holding() const noexcept {
        if (detail::holdings::is_on() && mutex_ != nullptr) [[unlikely]] {
            detail::holdings::gave(key(), this);
        }
    }

    shared_mutex* mutex_ = nullptr;
};

inline shared_mutex::guard shared_mutex::try_lock() noexcept {
    return permits_.try_take(max_readers) ? guard(*this) : guard();
}
inline shared_mutex::guard shared_mutex::lock_blocking() noexcept { return lock_blocking(no_deadline); }
inline shared_mutex::guard shared_mutex::lock_blocking(time_limit deadline) noexcept {
    return permits_.try_take(max_readers) || permits_.take_in_thread(max_readers, deadline) ? guard(*this) : guard();
}
inline shared_mutex::shared_guard shared_mutex::try_lock_shared() noexcept {
    return permits_.try_take(1) ? shared_guard(*this) : shared_guard();
}
inline shared_mutex::shared_guard shared_mutex::lock_shared_blocking() noexcept { return lock_shared_blocking(no_deadline); }
inline shared_mutex::shared_guard shared_mutex::lock_shared_blocking(time_limit deadline) noexcept {
    return permits_.try_take(1) || permits_.take_in_thread(1, deadline) ? shared_guard(*this) : shared_guard();
}

}  // namespace roost::inline ROOST_ABI
