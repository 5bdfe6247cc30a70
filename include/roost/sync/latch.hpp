#pragma once

// Opens once, when it has been counted down to zero.
//
//   latch started(3);
//   started.count_down();           each of the three
//   co_await started.wait();        passes when all three have counted
//
// Each count_down() happens-before every wait that passes. Counting down below zero ends the program.
// arrive_and_wait() counts down and queues the waiter in one step, when it is awaited. So a waiter that has passed may
// destroy the latch although others have only just arrived. For the same reason it is no clause of a select. If cancelled
// before it starts, it has not counted.
//
// Resumes: on the coroutine's executor; without one, inside the last count_down() on that thread, outside every lock.
// Cancelled: nothing else changes.
// Destroy: when no waiter is queued or being cancelled. A waiter that has passed may destroy it at once.
//
// word     bit 0 waited: the list is not empty; changes only under the list's lock      bit 1..31 count
//
//   n --count_down(k < n)--> n - k                fast path: one compare-exchange
//   n --count_down(n), not waited--> open         fast path, the last touch
//   n --count_down(n), waited--> open             under the lock; effect: wake every waiter, outside it
//   n --arrive(k < n)--> n - k, waited            under the lock, queued at once
//   n --arrive(n)--> open                         as count_down, and passes
//
// id  operation               order            pairs   carries                              fails in
// C1  count_down: load        relaxed          -       nothing: a guess for C2
// C2  count_down: CAS         release/relaxed  C3 C4   out: own writes; the others' stay in       latch_model: publish
//                                                      the release sequence, it is an RMW
// C3  is_open: load           acquire          C2 C6   every counter's writes                     latch_model: publish
// C4  wait: CAS               relaxed/acquire  C2 C6   seen open: every counter's writes          latch_model: late_wait
// C8  arrive: CAS             acq_rel/relaxed  C2 C3   out: as C2; in, of the last: all writes    latch_model: arrive_vs_count
// C5  cancel: fetch_and       relaxed          -       nothing: the list is empty again
// C6  last, waited: exchange  release          C3 C4   out: as C2                                 latch_model: late_pass
// C7  count: load             relaxed          -       nothing: a statistic

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>

namespace roost::inline ROOST_ABI {

class latch {
    class visit;

public:
    using operation = detail::wait_operation<latch*>;
    using arrival = detail::wait_operation<visit>;
    static constexpr std::uint32_t max_count = (1U << 31U) - 1;

    constexpr explicit latch(std::uint32_t count, literal name = "") noexcept : word_(count * unit), name_(name.text()) {
        if (count > max_count) {
            detail::panic("latch", name.text(), site(), "its count is larger than max_count; pass a smaller one");
        }
    }
    ~latch();

    void count_down(std::uint32_t n = 1) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return word_.load(seam::mo::acquire) < unit; }  // C3
    [[nodiscard]] std::uint32_t count() const noexcept { return word_.load(seam::mo::relaxed) / unit; }  // C7

    [[nodiscard("it waits only when it is awaited: write co_await")]] operation wait() noexcept { return operation(this); }
    // Counts down and waits, both when it is awaited. If the wait is cancelled, the count stands.
    [[nodiscard]] arrival arrive_and_wait(std::uint32_t n = 1) noexcept;
    [[nodiscard]] bool try_wait() const noexcept { return is_open(); }
    void wait_blocking() noexcept { static_cast<void>(detail::wait_in_thread(this, no_deadline)); }
    // Returns false if the deadline passed.
    [[nodiscard]] bool wait_blocking(time_limit deadline) noexcept { return detail::wait_in_thread(this, deadline); }
    void arrive_and_wait_blocking(std::uint32_t n = 1) noexcept {
        static_cast<void>(arrive_and_wait_blocking(no_deadline, n));
    }
    // Returns false if the deadline passed; the count stands.
    [[nodiscard]] bool arrive_and_wait_blocking(time_limit deadline, std::uint32_t n = 1) noexcept;

    [[nodiscard]] std::size_t waiters_now() const noexcept { return waiters_.size_approx(); }
    [[nodiscard]] const char* name() const noexcept { return name_; }

private:
    static constexpr const char* wait_call = "wait()";
    friend detail::wait_operation<latch*>;
    template <class Source>
    friend bool detail::wait_in_thread(Source, time_point) noexcept;

    static constexpr std::uint32_t waited_bit = 1;
    static constexpr std::uint32_t unit = 2;

    [[nodiscard]] bool try_pass() const noexcept { return is_open(); }
    [[nodiscard]] bool enqueue(ext::waiter& w) noexcept;
    [[nodiscard]] bool cancel(ext::waiter& w, ext::claim as) noexcept;
    void pass_on(ext::waiter&) noexcept {}
    [[nodiscard]] ext::wait_target describe() const noexcept { return {"latch", name_}; }
    void check(std::uint32_t seen, std::uint32_t n) const noexcept;
    void count_down_slow(std::uint32_t n) noexcept;
    [[nodiscard]] bool arrive(ext::waiter& w, std::uint32_t n) noexcept;

    seam::atomic<std::uint32_t> word_;
    detail::wait_list waiters_;
    const char* name_;
};

// One arrival that waits, as the Source of a wait_operation.
class latch::visit {
public:
    static constexpr const char* wait_call = "arrive_and_wait()";

    visit(latch& at, std::uint32_t n) noexcept : at_(&at), n_(n) {}
    visit* operator->() noexcept { return this; }
    const visit* operator->() const noexcept { return this; }

    [[nodiscard]] bool try_pass() const noexcept { return false; }
    [[nodiscard]] bool enqueue(ext::waiter& w) noexcept { return at_->arrive(w, n_); }
    [[nodiscard]] bool cancel(ext::waiter& w, ext::claim as) noexcept { return at_->cancel(w, as); }
    void pass_on(ext::waiter&) noexcept {}
    [[nodiscard]] ext::wait_target describe() const noexcept { return at_->describe(); }

private:
    latch* at_;
    std::uint32_t n_;
};

inline latch::arrival latch::arrive_and_wait(std::uint32_t n) noexcept { return arrival(visit(*this, n)); }

}  // namespace roost::inline ROOST_ABI
