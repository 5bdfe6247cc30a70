#pragma once

// What co_await sleep_for(...) and sleep_until(...) run.

#include <roost/exec/timer.hpp>
#include <roost/task/detail/frame/timers.hpp>
#include <roost/task/task.hpp>

#include <coroutine>

namespace roost::inline ROOST_ABI::detail {

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

}  // namespace roost::inline ROOST_ABI::detail
