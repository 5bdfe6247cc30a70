#include <roost/task/checkpoint.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

void yield_await::await_suspend(std::coroutine_handle<>) noexcept {
    if (me_->where().is_cancelled()) {
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
    if (me.where().is_cancelled()) {
        runner::of_this_thread().why = me.where().why();
        me.where().owner().run(next_step::unwind(me));
    } else {
        me.resume_from_wait();
    }
}

}  // namespace detail

job current_job() noexcept {
    detail::body* running = detail::body::current();
    return running == nullptr ? job() : job(node_ref<detail::job_core>::share(static_cast<detail::job_core&>(*running)));
}

}  // namespace roost::inline ROOST_ABI
