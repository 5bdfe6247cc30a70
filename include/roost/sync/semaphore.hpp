#pragma once

// A number of permits, granted in order of arrival.
//
//   { auto permit = co_await limit.acquire(); ... }    one permit, given back by its destructor
//   auto permits = co_await limit.acquire(3);          all three or none
//
// Released permits are handed to the first waiter if that is a coroutine. Threads park; fairness.hpp says when running threads
// may overtake a parked one. A large request at the head makes smaller ones behind it wait, so none starves.
// acquire(0) never waits. A request for more than total() waits until add_permits() makes it possible.
//
// Resumes: on the coroutine's executor; without one, inside the release on that thread, after it has released every lock.
// Cancelled: permits that were handed to the waiter go to the next one.
// Destroy: when no waiter is queued and no permit is held.

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/permits.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

class semaphore {
public:
    class permit;
    using operation = detail::permit_operation<semaphore, permit>;
    static constexpr std::uint32_t max_permits = detail::permit_state::max;

    // Ends the program if permits > max_permits.
    explicit semaphore(std::uint32_t permits, literal name = "", fairness how = fairness::hand_off) noexcept
        : permits_(permits > max_permits ? 0 : permits, how, detail::permits::semaphore_kind, name.text()) {
        if (permits > max_permits) {
            permits_.misuse("it was made with more permits than max_permits; pass fewer");
        }
    }

    [[nodiscard("nothing is held until it is awaited: write co_await")]] operation acquire(std::uint32_t n = 1) noexcept;
    // Returns an empty permit if n permits are not available, or if it may not overtake a waiter.
    permit try_acquire(std::uint32_t n = 1) noexcept;
    permit acquire_blocking(std::uint32_t n = 1) noexcept;
    permit acquire_blocking(std::uint32_t n,
                            time_limit deadline) noexcept;  // returns an empty permit if the deadline passed

    // For permits that permit::release() detached. Ends the program if more than total() would be available then.
    void release(std::uint32_t n = 1) noexcept { permits_.give(checked(n)); }

    // Adds n permits permanently. Hands them to the first waiters, as far as they suffice.
    void add_permits(std::uint32_t n) noexcept { permits_.add(n); }
    // Removes up to n of the available permits permanently. Returns how many were removed.
    std::uint32_t reduce_permits(std::uint32_t n) noexcept { return permits_.remove(n); }

    [[nodiscard]] std::uint32_t available() const noexcept { return permits_.available(); }
    [[nodiscard]] std::uint32_t total() const noexcept { return permits_.total(); }
    [[nodiscard]] std::uint32_t in_use() noexcept { return permits_.in_use(); }
    [[nodiscard]] std::size_t waiters_now() const noexcept { return permits_.waiters_now(); }
    [[nodiscard]] const char* name() const noexcept { return permits_.name(); }

private:
    friend detail::sync_access;
    static constexpr bool is_exclusive = false;
    static constexpr const char* take_call = "acquire()";

    [[nodiscard]] std::uint32_t checked(std::uint32_t n) const noexcept {
        if (n > max_permits) {
            permits_.misuse("more permits were requested than max_permits, so it could never grant them; request fewer");
        }
        return n;
    }

    detail::permits permits_;
};

// Owns permits, or nothing. The destructor returns them to the semaphore.
class [[nodiscard("the permits are given back at once unless the permit has a name")]] semaphore::permit {
public:
    permit() noexcept = default;
    permit(semaphore& from, std::uint32_t n) noexcept : from_(&from), count_(n) {
        if (detail::holdings::is_on()) [[unlikely]] {
            note_taken();
        }
    }
    permit(permit&& other) noexcept : from_(other.from_), count_(other.count_) { other.move_to(*this); }
    permit& operator=(permit&& other) noexcept {
        permit(std::move(other)).swap(*this);
        return *this;
    }
    ~permit() {
        if (from_ != nullptr && count_ != 0) {
            forget_holding();
            from_->permits_.give(count_);
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return from_ != nullptr; }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    // Requires a permit that is not empty. Checked builds report a violation as misuse; other builds ignore it.
    void give_back() noexcept {
        forget_holding();
        const std::uint32_t n = std::exchange(count_, 0);
        semaphore* from = std::exchange(from_, nullptr);
        if (from != nullptr && n != 0) {
            from->release(n);
        } else if (ROOST_CHECKED != 0 && from == nullptr) {
            detail::report_nothing_held(
                "semaphore permit",
                "give_back() of a permit that holds nothing: it was moved from, released or given back before; call it "
                "on the permit that it was moved to, or delete the call: the destructor gives back");
        }
    }
    // Releases ownership without returning the permits. Returns their number; the caller has to release() them.
    std::uint32_t release() noexcept {
        forget_holding();
        from_ = nullptr;
        return std::exchange(count_, 0);
    }
    void swap(permit& other) noexcept {
        permit mine(std::move(*this));
        from_ = other.from_;
        count_ = other.count_;
        other.move_to(*this);
        other.from_ = mine.from_;
        other.count_ = mine.count_;
        mine.move_to(other);
    }

private:
    // The last step of a move: `to` has the permits already.
    void move_to(permit& to) noexcept {
        if (detail::holdings::is_on() && count_ != 0) [[unlikely]] {
            detail::holdings::moved(key(), this, &to);
        }
        from_ = nullptr;
        count_ = 0;
    }
    [[nodiscard]] const void* key() const noexcept { return &from_->permits_; }
    [[gnu::noinline, gnu::cold]] void note_taken() const noexcept {
        if (count_ != 0) {
            detail::holdings::took(key(), this, count_, &detail::permits::total_of);
        }
    }
    void forget_holding() const noexcept {
        if (detail::holdings::is_on() && count_ != 0) [[unlikely]] {
            detail::holdings::gave(key(), this);
        }
    }

    semaphore* from_ = nullptr;
    std::uint32_t count_ = 0;
};

inline semaphore::operation semaphore::acquire(std::uint32_t n) noexcept { return {*this, checked(n)}; }
inline semaphore::permit semaphore::try_acquire(std::uint32_t n) noexcept {
    return permits_.try_take(checked(n)) ? permit(*this, n) : permit();
}
inline semaphore::permit semaphore::acquire_blocking(std::uint32_t n) noexcept { return acquire_blocking(n, no_deadline); }
inline semaphore::permit semaphore::acquire_blocking(std::uint32_t n, time_limit deadline) noexcept {
    return permits_.try_take(checked(n)) || permits_.take_in_thread(n, deadline) ? permit(*this, n) : permit();
}

}  // namespace roost::inline ROOST_ABI
