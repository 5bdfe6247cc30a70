// A running deadline is moved while it passes, while its body leaves, and by two threads at once.
#include <roost/task/detail/job/limit_region.hpp>

#include <roost/sync/event.hpp>
#include <roost/task/running_limit.hpp>
#include <roost/task/timeout.hpp>

#include "model_timers.hpp"

namespace {

using namespace roost;
using namespace roost::seam;
using model_rig::finish;
using model_rig::run_until;
using model_rig::timed_executor;
using roost::testing::check;
using std::chrono::hours;

task<int> waits(event& e, running_limit& mine) {
    mine = co_await this_limit();
    co_await e.wait();
    co_return 1;
}
task<> limited(event& e, running_limit& mine, int& got, bool& late) {
    auto value = co_await move_on_after(hours(1), waits(e, mine));
    if (value) {
        got = *value;
    } else {
        late = true;
    }
}

// A body that waits under a limit of one hour.
class limited_body {
public:
    limited_body() : one_(root.launch("limited", limited(go, limit, got, late))) { ex.inner.run_all(); }
    void end() {
        run_until(ex.inner, [&] { return one_.is_finished(); });
        check(!ex.clock.is_armed(), "JOB-126: no timer is left");
        check((got == 1) != late, "JOB-20: in time or late, never both");
        limit = running_limit();
        one_ = job();
        finish(ex.inner, root);
    }
    timed_executor ex;
    owned_scope root{ex, scope_options("root").report_failures()};
    event go;
    running_limit limit;
    int got = 0;
    bool late = false;

private:
    job one_;
};

// JOB-126: a move that returns true came first, and the old time ends nothing; else the body has timed out.
MODEL(limit_region_model, move_vs_fire) {
    limited_body b;
    thread clock([&] {
        b.ex.clock.fire_until(time_point(hours(1)));
        b.ex.inner.wake();
    });
    const bool moved = b.limit.set_remaining(hours(2));
    if (moved) {
        clock.join();
        check(b.ex.clock.is_armed() && b.ex.clock.armed_for() == time_point(hours(2)), "JOB-125: the timer was moved");
        b.go.set();
        b.end();
        check(b.got == 1, "JOB-126: the old time has ended nothing");
        return;
    }
    b.end();
    clock.join();
    check(b.late, "JOB-126: it had passed");
}

// JOB-126: it is moved while the body goes out: in time, and no timer is left behind.
MODEL(limit_region_model, move_vs_leave) {
    limited_body b;
    b.go.set();
    thread mover([&] {
        static_cast<void>(b.limit.extend_by(hours(1)));
        b.ex.inner.wake();
    });
    run_until(b.ex.inner, [&] { return b.got == 1; });
    mover.join();
    b.end();
    check(b.got == 1, "JOB-20: the result wins");
}

// JOB-125: two threads move it: the timer is where the last one has put the deadline.
MODEL(limit_region_model, two_moves) {
    limited_body b;
    bool other = false;
    thread mover([&] { other = b.limit.set_remaining(hours(3)); });
    const bool moved = b.limit.set_remaining(hours(2));
    mover.join();
    check(moved && other, "JOB-125: it had not passed");
    check(b.ex.clock.is_armed() && b.ex.clock.armed_for() == b.limit.deadline(), "JOB-125: the timer follows the deadline");
    b.go.set();
    b.end();
}

// JOB-125: the timer fires in vain while one thread moves the deadline away; another moves it back to the same time.
MODEL(limit_region_model, move_away_and_back) {
    limited_body b;
    thread clock([&b, mine = b.limit] {
        b.ex.clock.fire_until(time_point(hours(1)));  // early by the clock, which says 0
        static_cast<void>(mine.move_to(time_point(hours(1))));
        b.ex.inner.wake();
    });
    const bool moved = b.limit.set_remaining(hours(2));
    if (moved) {
        clock.join();
        check(b.ex.clock.is_armed() && b.ex.clock.armed_for() == b.limit.deadline(),
              "JOB-125: the timer follows the deadline");
        b.go.set();
        b.end();
        return;
    }
    b.end();
    clock.join();
    check(b.late, "JOB-126: it had passed");
}

// JOB-126: moved into the past by one thread, further out by another: it has passed, and the body ends once.
MODEL(limit_region_model, pass_vs_move) {
    limited_body b;
    thread mover([&] {
        check(b.limit.move_to(time_point()), "JOB-126: it had not passed");
        b.ex.inner.wake();
    });
    static_cast<void>(b.limit.set_remaining(hours(2)));
    b.end();
    mover.join();
    check(b.late, "JOB-126: whichever came first, it has passed");
}

}  // namespace
