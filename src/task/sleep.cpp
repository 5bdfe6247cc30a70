#include <roost/task/sleep.hpp>

namespace roost::inline ROOST_ABI::detail {

timer_service& timers_of(const promise_base& frame) noexcept {
    executor_ref where = frame.get_executor();
    timer_service* service = where->timers();
    if (service == nullptr) {
        panic("executor", where->name(), site(),
              "a task on it sleeps or has a deadline, but it has no timers; run the task on an executor with timers, such "
              "as a runtime's");
    }
    return *service;
}

// Disarming is the claim: the side that takes the timer from the service wins.
constinit const wait_functions sleep_await::functions{+[](cancellable& self) noexcept {
                                                          sleep_await& mine = static_cast<sleep_await&>(self);
                                                          return mine.service_->disarm(mine);
                                                      },
                                                      +[](const cancellable&) noexcept { return wait_target("sleep", ""); }};

sleep_await::sleep_await(promise_base& me, time_point until) noexcept
    : cancellable(me, functions), timer(fired), work(run_woken), service_(&timers_of(me)) {
    set_deadline(until);
}

bool sleep_await::is_due() const noexcept {
    return timer::deadline() == time_point::min() || timer::deadline() <= service_->now();
}

bool sleep_await::await_ready() const noexcept {
    return !frame().region().is_cancelled_relaxed() && is_due() && may_go_on(frame());
}

bool sleep_await::await_suspend(std::coroutine_handle<>) noexcept {
    promise_base& me = frame();
    region& in = me.region();
    if (in.is_cancelled_relaxed()) {
        unwind_frame(me);
        return true;
    }
    if (is_due()) [[unlikely]] {
        return give_way(me);
    }
    if (!service_->arm(*this)) {
        unwind_frame(me, reason::plain_kind(reason_kind::closed));
        return true;
    }
    if (in.commit(*this)) {
        unwind_frame(me);
    }
    return true;
}

void sleep_await::fired(timer& self) noexcept {
    sleep_await& mine = static_cast<sleep_await&>(self);
    ROOST_PROBE1(job_wake, mine.frame().handle().address());
    if (flight_recorder::now() != 0) [[unlikely]] {
        flight_recorder::write_woken(mine.frame().handle().address());
    }
    post_or_fall_back(mine.frame().get_executor(), mine, "a sleeping task");
}

void sleep_await::run_woken(work& self) noexcept {
    sleep_await& mine = static_cast<sleep_await&>(self);
    promise_base& me = mine.frame();
    me.region().disarm(mine);
    static_cast<void>(mine.service_->disarm(mine));  // fired() may still be returning
    me.resume_from_wait();
}

}  // namespace roost::inline ROOST_ABI::detail
