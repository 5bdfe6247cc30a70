#pragma once

// What every await does that does not have to wait: it counts a step (task/detail/frame/slice.hpp).
//
//   await_ready()    return is_ready && may_go_on(me);
//   await_suspend()  if it was ready: return give_way(me);
//
// Every few steps the body reads its executor's clock. A deadline that has passed cancels its region here, whether or not the
// timer has fired, so that a limit ends a body on one thread as on many. A body whose time slice is over is posted behind
// everything that is queued, so that timers, I/O and other bodies run.

#include <roost/task/detail/job/region.hpp>

namespace roost::inline ROOST_ABI::detail {

// Returns false if the region is cancelled by now or the time slice is over. On an executor without timers always true.
[[nodiscard, gnu::noinline]] bool look_at_clock(promise_base& me) noexcept;

[[nodiscard]] inline bool may_go_on(promise_base& me) noexcept { return !me.region().is_last_step() || look_at_clock(me); }

// For an await that has its result, and for a child that has not begun. Returns true if the body was posted, and continues
// with this frame later: the caller stays suspended and does not touch the frame again.
[[nodiscard, gnu::noinline]] bool give_way(promise_base& frame) noexcept;

// Called by an await_suspend: begins a child that has been attached, or continues with `me` itself.
template <transfer Mode>
auto start_child(promise_base& me, promise_base& child) noexcept -> typename transfer_to<Mode>::result {
    region& in = me.region();
    if (in.is_last_step()) [[unlikely]] {
        if (!look_at_clock(me) && give_way(child)) {
            return transfer_to<Mode>::none();
        }
        child.region().inherit_steps(in);
        return transfer_to<Mode>::bounced(child.handle());
    }
    child.region().inherit_steps(in);
    return transfer_to<Mode>::frame(child.handle());
}

}  // namespace roost::inline ROOST_ABI::detail
