#include <roost/task/this_task.hpp>

#include <roost/exec/timer.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

void yield_await::await_suspend(std::coroutine_handle<>) noexcept {
    region& in = me_->region();
    if (in.is_cancelled_relaxed() || (!may_go_on(*me_) && in.is_cancelled_relaxed())) {
        unwind_frame(*me_);
        return;
    }
    executor_ref where = me_->get_executor();
    if (!where->post_last(*this)) {
        post_or_fall_back({}, *this, "a task that yielded");
    }
}

void yield_await::run_again(work& self) noexcept {
    promise_base& me = *static_cast<yield_await&>(self).me_;
    if (me.region().is_cancelled_relaxed()) {
        runner::of_this_thread().why = me.region().why();
        me.region().owner().run(next_step::unwind(me));
    } else {
        me.resume_from_wait();
    }
}

ready_await<time_point> this_time_call::in_task(promise_base& me) const noexcept {
    timer_service* timers = me.get_executor()->timers();
    return ready_await<time_point>(timers == nullptr ? now() : timers->now());
}

}  // namespace detail

job current_job() noexcept {
    detail::job_core* running = detail::job_core::current();
    return running == nullptr ? job() : job(detail::node_ref<detail::job_core>::share(*running));
}

}  // namespace roost::inline ROOST_ABI
