#pragma once

// A signal for one waiter: set() lets exactly one wait pass, now or later. At most one signal is stored.
//
//   co_await tick.wait();      takes the signal
//   tick.set();                hands it to the waiter that has waited longest, or stores it
//
// Resumes: on the coroutine's executor; without one, inside set() on the calling thread, after it has released every lock.
// Cancelled: a signal that was handed to the waiter goes to the next one.
// Destroy: when no waiter is queued. The waiter that took the signal may destroy it at once.
//
// word     bit 0 signalled      bit 1 waited: the list is not empty; changes only under the list's lock
//
//   idle --set--> signalled --wait--> idle         fast paths: one compare-exchange each
//   idle --wait--> waited --set--> waited | idle   under the lock; effect: wake the first
//
// I1       signalled and waited are never both true
//
// id  operation                order            pairs   carries                               fails in
// A1  set: load                relaxed          -       nothing: a guess for A2
// A2  set: CAS                 release/relaxed  A3 A5   out: own writes; earlier sets' stay in  auto_reset_event_model: publish
//                                                       the release sequence, it is an RMW
// A3  try_wait: CAS            acquire/relaxed  A2 A4   the setters' writes                     auto_reset_event_model: publish
// A4  set, left: exchange      release          A3 A5   out: as A2                              auto_reset_event_model: left_alone
// A5  wait: CAS                acquire/relaxed  A2 A4   took it: the setters' writes            auto_reset_event_model: late_wait
// A6  under the lock: store    relaxed          -       nothing: while waited is set, the word changes only under the lock
// A7  wait: CAS                relaxed/relaxed  -       nothing: from now on set goes through the lock

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>

namespace roost::inline ROOST_ABI {

class auto_reset_event {
public:
    using operation = detail::wait_operation<auto_reset_event*>;

    constexpr explicit auto_reset_event(literal name = "", bool is_set_already = false) noexcept
        : word_(is_set_already ? signalled : idle), name_(name.text()) {}
    ~auto_reset_event();

    void set() noexcept;
    // Returns true, and takes the signal, if one is stored.
    [[nodiscard]] bool try_wait() noexcept {
        std::uint32_t seen = signalled;
        return word_.compare_exchange_strong(seen, idle, seam::mo::acquire, seam::mo::relaxed);  // A3
    }
    // Discards a stored signal. Returns true if there was one.
    bool reset() noexcept { return try_wait(); }

    [[nodiscard("it waits only when it is awaited: write co_await")]] operation wait() noexcept { return operation(this); }
    void wait_blocking() noexcept { static_cast<void>(detail::wait_in_thread(this, no_deadline)); }
    // Returns false if the deadline passed.
    [[nodiscard]] bool wait_blocking(time_limit deadline) noexcept { return detail::wait_in_thread(this, deadline); }

    [[nodiscard]] std::size_t waiters_now() const noexcept { return waiters_.size_approx(); }
    [[nodiscard]] const char* name() const noexcept { return name_; }

private:
    static constexpr const char* wait_call = "wait()";
    friend detail::wait_operation<auto_reset_event*>;
    template <class Source>
    friend bool detail::wait_in_thread(Source, time_point) noexcept;

    static constexpr std::uint32_t idle = 0;
    static constexpr std::uint32_t signalled = 1;
    static constexpr std::uint32_t waited = 2;

    [[nodiscard]] bool try_pass() noexcept { return try_wait(); }
    [[nodiscard]] bool enqueue(ext::waiter& w) noexcept;
    [[nodiscard]] bool cancel(ext::waiter& w, ext::claim as) noexcept;
    void pass_on(ext::waiter&) noexcept { set(); }
    [[nodiscard]] ext::wait_target describe() const noexcept { return {"auto_reset_event", name_}; }
    void set_slow() noexcept;

    seam::atomic<std::uint32_t> word_;
    detail::wait_list waiters_;
    const char* name_;
};

}  // namespace roost::inline ROOST_ABI
