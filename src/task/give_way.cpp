#include <roost/task/detail/frame/give_way.hpp>

#include <roost/exec/timer.hpp>
#include <roost/task/detail/job/job_core.hpp>
#include <roost/tree/detail/deadline.hpp>

namespace roost::inline ROOST_ABI::detail {

bool look_at_clock(promise_base& me) noexcept {
    region& in = me.region();
    timer_service* timers = me.get_executor()->timers();
    if (timers == nullptr) {
        in.set_steps(slice::most_steps);
        return true;
    }
    const time_point at = timers->now();
    const time_point limit = in.deadline();
    runner& here = runner::of_this_thread();
    const bool over = here.slice.look(at, limit != no_deadline);
    in.set_steps(here.slice.steps());
    if (at >= limit) [[unlikely]] {
        cancel_passed(in, at);
    }
    return !over && !in.is_cancelled_relaxed();
}

// A cancelled body ends at its next checkpoint, so it need not be posted.
bool give_way(promise_base& frame) noexcept {
    region& in = frame.region();
    return !in.is_cancelled_relaxed() && in.owner().give_way(frame);
}

}  // namespace roost::inline ROOST_ABI::detail
