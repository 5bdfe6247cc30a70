// A node becomes striped while it is stopped, given up, guarded.

#include <roost/shutdown/shutdown.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <memory>

namespace {

using roost::guard;
using roost::shutdown;
using roost::shutdown_state;
using roost::testing::check;

// SHUT-75: striped or not, the stop finds it, and it completes.
MODEL(striping_model, stripe_and_stop) {
    const shutdown s;
    roost::thread other([&s] { s.expect_contention(); });
    s.shut_down();
    other.join();
    check(s.state() == shutdown_state::complete, "SHUT-75: a node without guards completes");
    check(s.guard_count() == 0, "SHUT-75: nothing is left");
}

// SHUT-75, SHUT-71, SHUT-72: a guard on a striped child while the root is stopped.
MODEL(striping_model, guard_and_stop) {
    const shutdown root;
    const shutdown hot = root.child();
    hot.expect_contention();
    roost::plain<int> work{0};
    roost::thread other([&] {
        const guard g = hot.guard();
        check(root.state() != shutdown_state::complete, "SHUT-71: a returned guard is seen by the root");
        work.set(1);
    });
    auto done = root.shut_down();
    other.join();
    check(done.is_resolved(), "SHUT-31: with every guard dropped it completes");
}

// SHUT-75: a guard from before is dropped by another thread while stop closes the stripes; the blocked one is woken.
MODEL(striping_model, drop_and_stop) {
    const shutdown s;
    roost::plain<int> work{0};
    guard g = s.guard();
    s.expect_contention();
    roost::thread other([&work, &g] {
        work.set(1);
        g.reset();
    });
    s.shut_down().wait_blocking();
    check(work.get() == 1, "SHUT-72: completion sees what the guarded work did");
    other.join();
}

// SHUT-75, SHUT-46: the last owner of a striped node goes, and so does the guard.
MODEL(striping_model, last_handle_and_guard) {
    const shutdown root;
    auto c = std::make_unique<shutdown>(root.child());
    c->expect_contention();
    auto g = std::make_unique<guard>(c->guard());
    const auto notice = c->shutting_down();
    roost::thread other([&g] { g.reset(); });
    c.reset();
    other.join();
    check(notice.is_resolved(), "SHUT-46: an interrupt never waits for ever");
    check(root.guard_count() == 0, "SHUT-75: nothing is left");
}

}  // namespace
