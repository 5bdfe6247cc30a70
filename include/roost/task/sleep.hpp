#pragma once

// co_await sleep_for(50ms), sleep_until(t): suspends on the timers of the task's executor. A time that has passed needs no
// timer. Cancelling the job ends the sleep at once. If the timers are closed, the body ends cancelled with the reason
// `closed`.

#include <roost/exec/timer.hpp>
#include <roost/task/task.hpp>

#include <chrono>

namespace roost::inline ROOST_ABI {

namespace detail {

// Returns the timers of the frame's executor. Ends the program, naming the executor, if it has none.
[[nodiscard]] timer_service& timers_of(const promise_base& frame) noexcept;

class sleep_await final : private cancellable, private timer, private work {
public:
    sleep_await(promise_base& me, time_point until) noexcept;

    [[nodiscard]] bool await_ready() const noexcept;
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<>) noexcept;
    void await_resume() const noexcept {}

private:
    [[nodiscard]] bool is_due() const noexcept;
    static void fired(timer& self) noexcept;
    static void run_woken(work& self) noexcept;
    static const wait_functions functions;
    timer_service* service_;
};

class [[nodiscard("it sleeps only when it is awaited: write co_await")]] sleep_until_call : public task_only {
public:
    explicit sleep_until_call(time_point until) noexcept : until_(until) {}
    [[nodiscard]] sleep_await in_task(promise_base& me) const noexcept { return sleep_await(me, until_); }
    [[nodiscard]] time_point until(const promise_base&) const noexcept { return until_; }

private:
    time_point until_;
};

class [[nodiscard("it sleeps only when it is awaited: write co_await")]] sleep_for_call : public task_only {
public:
    explicit sleep_for_call(duration d) noexcept : duration_(d) {}
    [[nodiscard]] sleep_await in_task(promise_base& me) const noexcept { return sleep_await(me, until(me)); }
    [[nodiscard]] time_point until(const promise_base& me) const noexcept {
        return duration_ <= duration::zero() ? time_point::min() : deadline_after(timers_of(me).now(), duration_);
    }

private:
    duration duration_;
};

// Converts d; out of range becomes the largest or smallest duration.
template <class Rep, class Period>
[[nodiscard]] constexpr duration saturated(std::chrono::duration<Rep, Period> d) noexcept {
    const time_point from_zero = deadline_after(time_point(), d);
    return from_zero.time_since_epoch();
}

}  // namespace detail

template <class Rep, class Period>
detail::sleep_for_call sleep_for(std::chrono::duration<Rep, Period> d) noexcept {
    return detail::sleep_for_call(detail::saturated(d));
}
inline detail::sleep_until_call sleep_until(time_point t) noexcept { return detail::sleep_until_call(t); }

}  // namespace roost::inline ROOST_ABI
