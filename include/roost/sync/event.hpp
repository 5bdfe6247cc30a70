#pragma once

// A flag that waiters wait for. Stays set until it is reset.
//
//   co_await ready.wait();        completes at once if the event is set
//   ready.set();                  wakes every waiter
//
// set() happens-before every wait that passes because of it. set() wakes exactly the waiters queued at that moment, even if
// the event is reset before they run.
//
// Resumes: on the coroutine's executor; without one, inside set() on the calling thread, after it has released every lock.
// Cancelled: nothing else changes.
// Destroy: when no waiter is queued or being cancelled. A waiter that saw it set may destroy it at once.
//
// word     bit 0 set      bit 1 waited: the list is not empty; changes only under the list's lock
//
//   unset --set--> set                       fast path: one compare-exchange, the last touch
//   unset --wait--> waited --wait--> waited
//   waited --set--> set                      under the lock; effect: wake every waiter, outside it
//   set --reset--> unset
//
// I1       set and waited are never both true
//
// id  operation              order            pairs     carries                                    fails in
// E1  is_set: load           acquire          E2 E4     the setters' writes                        event_model: publish
// E2  set: CAS               release/relaxed  E1 E5 E6  out: own writes; earlier sets' stay in     event_model: publish
//                                                       the release sequence, it is an RMW
// E3  set: load              relaxed          -         nothing: a guess for E2
// E4  set, waited: exchange  release          E1 E5 E6  out: as E2                                 event_model: late_pass
// E5  reset: fetch_and       acquire          E2 E4     in: the setters' writes                    event_model: reset
// E6  wait: CAS              relaxed/acquire  E2 E4     seen set: the setters' writes              event_model: late_wait
// E7  cancel: store          relaxed          -         nothing: while waited is set, the word changes only under the lock

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>

namespace roost::inline ROOST_ABI {

class event {
public:
    using operation = detail::wait_operation<event*>;

    constexpr explicit event(literal name = "", bool is_set_already = false) noexcept
        : word_(is_set_already ? set_bit : 0), name_(name.text()) {}
    ~event();

    void set() noexcept;
    // Returns true if it was set.
    bool reset() noexcept { return (word_.fetch_and(~set_bit, seam::mo::acquire) & set_bit) != 0; }         // E5
    [[nodiscard]] bool is_set() const noexcept { return (word_.load(seam::mo::acquire) & set_bit) != 0; }  // E1

    [[nodiscard("it waits only when it is awaited: write co_await")]] operation wait() noexcept { return operation(this); }
    [[nodiscard]] bool try_wait() const noexcept { return is_set(); }
    void wait_blocking() noexcept { static_cast<void>(detail::wait_in_thread(this, no_deadline)); }
    // Returns false if the deadline passed.
    [[nodiscard]] bool wait_blocking(time_limit deadline) noexcept { return detail::wait_in_thread(this, deadline); }

    [[nodiscard]] std::size_t waiters_now() const noexcept { return waiters_.size_approx(); }
    [[nodiscard]] const char* name() const noexcept { return name_; }

private:
    static constexpr const char* wait_call = "wait()";
    friend detail::wait_operation<event*>;
    template <class Source>
    friend bool detail::wait_in_thread(Source, time_point) noexcept;

    static constexpr std::uint32_t set_bit = 1;
    static constexpr std::uint32_t waited_bit = 2;

    [[nodiscard]] bool try_pass() const noexcept { return is_set(); }
    [[nodiscard]] bool enqueue(ext::waiter& w) noexcept;
    [[nodiscard]] bool cancel(ext::waiter& w, ext::claim as) noexcept;
    void pass_on(ext::waiter&) noexcept {}
    [[nodiscard]] ext::wait_target describe() const noexcept { return {"event", name_}; }
    void set_slow() noexcept;

    seam::atomic<std::uint32_t> word_;
    detail::wait_list waiters_;
    const char* name_;
};

}  // namespace roost::inline ROOST_ABI
