#pragma once

// Permits that are granted in order: the core of mutex, shared_mutex and semaphore. See permit_state.hpp for the word.
// Permits are handed to coroutines in order of arrival. A sleeping thread would keep its permits idle for the microseconds it
// takes to wake, so it is notified instead. Until it takes them, running threads may overtake it, and the waiters behind it,
// for at most thread_patience releases. After that the permits are handed to it.
//
// id  operation                 order             pairs     carries                                 fails in
// P1  take, give: load          relaxed           -         nothing: a guess for P2 and P3
// P2  take: CAS                 acquire/relaxed   P3 P5     in: what the last holder wrote          mutex_model: publish, semaphore_model: publish
// P3  give: CAS                 release/relaxed   P2 P5     out: what this holder wrote             mutex_model: publish, semaphore_model: publish
// P4  word under the lock: load relaxed           -         nothing: a guess for P5
// P5  word under the lock: CAS  acq_rel/relaxed   P2 P3     in: what holders wrote; out: the same,  mutex_model: hand_off
//                                                           to the next that takes
// P6  total: load, store        relaxed           -         nothing: a bound that is checked, changed under the lock
// P7  statistics: load          relaxed           -         nothing

#include <roost/sync/detail/access.hpp>
#include <roost/sync/detail/holdings.hpp>
#include <roost/sync/detail/limits.hpp>
#include <roost/sync/detail/lock_takers.hpp>
#include <roost/sync/detail/permit_state.hpp>
#include <roost/sync/detail/thread_waiter.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/sync/fairness.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

// Reports a call on an empty guard or permit.
[[gnu::cold]] void report_nothing_held(const char* what, const char* rule) noexcept;

class weighted_waiter : public waiter {
public:
    constexpr explicit weighted_waiter(std::uint32_t n) noexcept : weight_(n) {}
    weighted_waiter(weighted_waiter&&) noexcept = default;
    [[nodiscard]] std::uint32_t weight() const noexcept { return weight_; }

protected:
    constexpr weighted_waiter(thread_tag tag, work::run_function unpark, std::uint32_t n) noexcept
        : waiter(tag, unpark), weight_(n) {}

private:
    std::uint32_t weight_;
};

class permits {
public:
    enum kind : std::uint32_t { mutex_kind = 0, shared_mutex_kind = 1U << 29U, semaphore_kind = 2U << 29U };

    constexpr permits(std::uint32_t count, fairness how, kind what, const char* name) noexcept
        : word_(permit_state{count, false, false}.pack()),
          total_(count | what | (how == fairness::barging ? barging_bit : 0)),
          name_(name) {}
    ~permits();

    [[nodiscard]] bool try_take(std::uint32_t n) noexcept {
        std::uint32_t seen = word_.load(mo::relaxed);  // P1
        while ((seen & permit_state::waited_bit) == 0 && seen >= n * permit_state::unit) {
            if (word_.compare_exchange_weak(seen, seen - n * permit_state::unit, mo::acquire, mo::relaxed))
                [[likely]] {  // P2
                return true;
            }
        }
        return n == 0 || (is_barging() && try_barge(n));
    }
    // As try_take(1) for a total of one: needs no load first, because the word is either free or not.
    [[nodiscard]] bool try_take_only() noexcept {
        std::uint32_t seen = permit_state::unit;
        return word_.compare_exchange_strong(seen, 0, mo::acquire, mo::relaxed) ||  // P2
               (is_barging() && try_barge(1));
    }
    void give_only() noexcept {
        std::uint32_t seen = 0;
        if (!word_.compare_exchange_strong(seen, permit_state::unit, mo::release, mo::relaxed)) [[unlikely]] {  // P3
            give_slow(1);
        }
    }
    // Without waiters the compare-exchange is the last touch of this object: the next holder may destroy it.
    void give(std::uint32_t n) noexcept {
        const std::uint32_t limit = total() * permit_state::unit;
        std::uint32_t seen = word_.load(mo::relaxed);  // P1
        do {
            if ((seen & permit_state::waited_bit) != 0 || seen + n * permit_state::unit > limit) [[unlikely]] {
                give_slow(n);
                return;
            }
        } while (!word_.compare_exchange_weak(seen, seen + n * permit_state::unit, mo::release, mo::relaxed));  // P3
    }
    // Spins, then blocks. Returns false if the deadline passed.
    [[nodiscard]] bool take_in_thread(std::uint32_t n, time_point deadline) noexcept;

    void add(std::uint32_t n) noexcept;
    [[nodiscard]] std::uint32_t remove(std::uint32_t n) noexcept;

    [[nodiscard]] std::uint32_t available() const noexcept { return word_.load(mo::relaxed) / permit_state::unit; }  // P7
    [[nodiscard]] std::uint32_t total() const noexcept { return total_.load(mo::relaxed) & permit_state::max; }  // P6
    // For holdings. Requires that `self` are permits.
    [[nodiscard]] static std::uint32_t total_of(const void* self) noexcept {
        return static_cast<const permits*>(self)->total();
    }
    [[nodiscard]] std::uint32_t in_use() noexcept;
    [[nodiscard]] std::uint32_t waiters_now() const noexcept { return waiters_.size_approx(); }
    [[nodiscard]] wait_target describe() const noexcept;
    [[nodiscard]] const char* name() const noexcept { return name_; }

    // For awaiters and for condition. enqueue() returns false if the permits were taken at once.
    [[nodiscard]] bool enqueue(weighted_waiter& w) noexcept;
    [[nodiscard]] bool cancel(weighted_waiter& w, claim as) noexcept;

    // For a coroutine that already waits in another list. Queues it here, or marks it delivered and returns true. Calls
    // `moving` first, under the lock: a canceller that sees its effect finds the waiter here.
    template <class Moving>
    [[nodiscard]] bool grant_or_enqueue(weighted_waiter& w, Moving moving) noexcept {
        waiters_.lock();
        moving();
        const bool is_queued = enqueue_locked(w);
        if (!is_queued) {
            wait_list::mark_delivered(w);
        }
        waiters_.unlock();
        return !is_queued;
    }

    [[noreturn]] void misuse(const char* rule) const noexcept;

private:
    static constexpr std::uint32_t barging_bit = 1U << 31U;

    // What a grant under the lock leaves to do outside it: waiters with their permits, and a thread to notify.
    struct grants {
        wake_chain handed;
        waiter* called = nullptr;
    };

    [[nodiscard]] bool is_barging() const noexcept { return (total_.load(mo::relaxed) & barging_bit) != 0; }  // P6
    [[nodiscard]] bool try_barge(std::uint32_t n) noexcept;
    void give_slow(std::uint32_t n) noexcept;
    [[nodiscard]] bool enqueue_locked(weighted_waiter& w) noexcept;
    template <class Change>
    bool change(Change next) noexcept;
    void grant_locked(grants& out, bool was_open = false) noexcept;
    // True if it is a thread that may be overtaken once more.
    [[nodiscard]] bool is_patient(const waiter& first) const noexcept {
        return first.is_thread() && (is_barging() || first.overtaken < thread_patience);
    }
    [[nodiscard]] bool leave_to_thread(waiter& first, std::uint32_t need, bool was_open, grants& out) noexcept;
    void unlock_and_deliver(grants& out) noexcept;
    template <class Node>
    [[nodiscard]] bool sleep(Node& self, time_point deadline) noexcept;

    atomic<std::uint32_t> word_;
    atomic<std::uint32_t> total_;
    wait_list waiters_;
    const char* name_;
};

// The awaiter for n permits of an Owner. co_await returns Result(owner, n).
template <class Owner, class Result>
class [[nodiscard("nothing is held until it is awaited: write co_await")]] permit_operation {
public:
    permit_operation(Owner& owner, std::uint32_t n) noexcept : owner_(&owner), node_(n) {}
    permit_operation(permit_operation&&) noexcept = default;
    ~permit_operation() {
        if (node_.is_started()) {
            abandon();
        } else if (node_.is_unused()) {
            never_awaited(waits_on(), sync_access::take_call<Owner>);
        }
    }

    [[nodiscard]] bool await_ready() noexcept {
        set_awaited();
        if constexpr (sync_access::is_exclusive<Owner>) {
            return permits_here().try_take_only();
        } else {
            return permits_here().try_take(node_.weight());
        }
    }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return start(resume_target::of(handle));
    }
    [[nodiscard]] Result await_resume() noexcept {
        node_.finish();
        if constexpr (sync_access::is_exclusive<Owner> && notes_lock_takers) {
            note_lock_taker(owner_, nullptr);
        }
        return Result(*owner_, node_.weight());
    }

    [[nodiscard]] bool start(const resume_target& target) noexcept {
        node_.bind(target);
        return permits_here().enqueue(node_);
    }
    bool try_cancel(claim as = claim::cancelled) noexcept { return permits_here().cancel(node_, as); }
    void set_awaited() noexcept { node_.set_awaited(); }
    [[nodiscard]] waiter& node() noexcept { return node_; }
    [[nodiscard]] wait_target waits_on() const noexcept { return permits_here().describe(); }
    static constexpr bool takes_permits = true;
    static constexpr void measured_as_lock() noexcept {}  // a task measures how long it waits
    // For another thread: what the wait is for.
    [[nodiscard]] wait_subject subject() const noexcept {
        return {.of = &permits_here(), .need = node_.weight(), .is_pending = !node_.is_claimed()};
    }
    // Returns the lock that the awaiting job must not hold already.
    [[nodiscard]] const void* exclusive_lock() const noexcept
        requires(sync_access::is_exclusive<Owner>)
    {
        return owner_;
    }

private:
    [[nodiscard]] permits& permits_here() const noexcept { return sync_access::permits_of(*owner_); }
    void abandon() noexcept {
        if (node_.state() == claim::delivered) {
            permits_here().give(node_.weight());
        } else if (node_.state() == claim::waiting && !try_cancel()) {
            destroyed_while_woken(waits_on());
        }
    }

    Owner* owner_;
    weighted_waiter node_;
};

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
