#pragma once

// A meeting point in phases: no participant passes before all have arrived. Then the next phase begins.
//
//   barrier step(3);
//   co_await step.arrive_and_wait();      each of the three, again and again
//
// Each arrival happens-before every return from a wait for that phase. Requires at most one arrival per participant and
// phase. A surplus arrival counts as an early arrival of the next phase.
//
// Resumes: on the coroutine's executor; without one, inside the last arrival on that thread, after it has released every lock.
// Cancelled: the arrival stands, only the wait ends.
// Destroy: when no waiter is queued or being cancelled. A participant that has passed may destroy it at once.
// Arrivals take the list's lock, so this file has no orderings of its own.

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/barrier_state.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>

namespace roost::inline ROOST_ABI {

class barrier {
    class visit;

public:
    using phase = std::uint32_t;
    using operation = detail::wait_operation<visit>;

    constexpr explicit barrier(std::uint32_t participants, literal name = "") noexcept
        : state_{participants, participants, 0}, name_(name.text()) {
        if (participants == 0) {
            detail::panic("barrier", name.text(), site(), "it needs at least one participant");
        }
    }
    ~barrier();

    [[nodiscard("it waits only when it is awaited: write co_await")]] operation arrive_and_wait() noexcept;
    // Arrives without waiting. Returns the phase, for wait().
    [[nodiscard]] phase arrive() noexcept;
    [[nodiscard("it waits only when it is awaited: write co_await")]] operation wait(phase of) noexcept;
    // Arrives for the last time. The next phase has one participant less.
    void arrive_and_drop() noexcept;

    [[nodiscard]] bool try_wait(phase of) noexcept;  // returns true if that phase is over
    void wait_blocking(phase of) noexcept { static_cast<void>(wait_blocking(of, no_deadline)); }
    [[nodiscard]] bool wait_blocking(phase of, time_limit deadline) noexcept;  // returns false if the deadline passed
    void arrive_and_wait_blocking() noexcept { static_cast<void>(arrive_and_wait_blocking(no_deadline)); }
    // Returns false if the deadline passed; the arrival stands.
    [[nodiscard]] bool arrive_and_wait_blocking(time_limit deadline) noexcept;

    [[nodiscard]] std::size_t waiters_now() const noexcept { return waiters_.size_approx(); }
    [[nodiscard]] const char* name() const noexcept { return name_; }

private:
    enum class arrival : std::uint8_t { none, one, last };

    [[nodiscard]] bool enqueue(ext::waiter* w, arrival how, phase& of) noexcept;
    [[nodiscard]] bool block(arrival how, phase of, time_point deadline) noexcept;
    [[nodiscard]] bool cancel(ext::waiter& w, ext::claim as) noexcept;

    detail::barrier_state state_;
    detail::wait_list waiters_;
    const char* name_;
};

// One participant's arrival or wait, as the Source of a wait_operation.
class barrier::visit {
public:
    visit(barrier& at, arrival how, phase of) noexcept : at_(&at), how_(how), of_(of) {}
    visit* operator->() noexcept { return this; }
    const visit* operator->() const noexcept { return this; }

    [[nodiscard]] bool try_pass() const noexcept { return false; }
    [[nodiscard]] bool enqueue(ext::waiter& w) noexcept { return at_->enqueue(&w, how_, of_); }
    [[nodiscard]] bool cancel(ext::waiter& w, ext::claim as) noexcept { return at_->cancel(w, as); }
    void pass_on(ext::waiter&) noexcept {}
    [[nodiscard]] ext::wait_target describe() const noexcept { return {"barrier", at_->name()}; }

    [[nodiscard]] const char* call() const noexcept { return how_ == arrival::none ? "wait()" : "arrive_and_wait()"; }

private:
    barrier* at_;
    arrival how_;
    phase of_;
};

inline barrier::operation barrier::arrive_and_wait() noexcept { return operation(visit(*this, arrival::one, 0)); }
inline barrier::operation barrier::wait(phase of) noexcept { return operation(visit(*this, arrival::none, of)); }

}  // namespace roost::inline ROOST_ABI
