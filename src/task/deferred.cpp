#include <roost/task/deferred.hpp>

#include <roost/base/detail/quiet_drops.hpp>
#include <roost/base/detail/report_misuse.hpp>
#include <roost/base/error.hpp>
#include <roost/task/promise.hpp>

namespace roost::inline ROOST_ABI::detail {

constinit const wait_functions settled_wait::functions{
    +[](cancellable& self) noexcept { return static_cast<settled_wait&>(self).wait_.try_cancel(); },
    +[](const cancellable& self) noexcept { return static_cast<const settled_wait&>(self).wait_.waits_on(); },
    &settled_wait::joined};

settled_wait::settled_wait(promise_base& me, job_core& target) noexcept
    : cancellable(me, functions), target_(&target), wait_(&target) {}

bool settled_wait::await_ready() const noexcept {
    return !frame().region().is_cancelled_relaxed() && target_->is_final() && !is_cancelled_target();
}

bool settled_wait::await_suspend(std::coroutine_handle<>) noexcept {
    promise_base& me = frame();
    region& in = me.region();
    if (in.is_cancelled_relaxed()) {
        unwind_frame(me);
        return true;
    }
    if (!wait_.start(resume_target(this, woken, me.get_executor()))) {
        if (!is_cancelled_target()) {
            return false;
        }
        unwind_frame(me, target_->outcome_link().why());
        return true;
    }
    if (in.commit(*this)) {
        unwind_frame(me);
    }
    return true;
}

void settled_wait::woken(work& self) noexcept {
    settled_wait& mine = *static_cast<settled_wait*>(static_cast<waiter&>(self).frame());
    promise_base& me = mine.frame();
    me.region().disarm(mine);
    mine.wait_.await_resume();
    if (mine.is_cancelled_target()) {
        runner::of_this_thread().why = mine.target_->outcome_link().why();
        me.region().owner().run(next_step::unwind(me));
    } else {
        me.resume_from_wait();
    }
}

void throw_refused() {
    throw error(
        errc::refused,
        "this deferred refers to no child: its scope was closed when the child was to be started, or the deferred was "
        "awaited or moved from before");
}

void deferred_dropped(const job_core& child) noexcept {
    if (!child.is_cancelled() && !drops_are_quiet()) {
        report_misuse(
            "job", child.name(), child.made_at(),
            "its deferred was dropped without being awaited, which cancels the job; await the deferred, keep() it, "
            "cancel() it if that is meant, or launch() the task when no result is wanted");
    }
}

std::exception_ptr dropped_promise(std::string_view name) noexcept {
    try {
        throw error(errc::promise_dropped, "the promise of '" + std::string(name) + "' was dropped unset");
    } catch (...) {
        return std::current_exception();
    }
}

void abandon_external::operator()() noexcept {
    if (job_->claim_outcome()) {
        job_->outcome_link().settle_cancelled(job_->why());
        job_->end_body();
    }
}

}  // namespace roost::inline ROOST_ABI::detail
