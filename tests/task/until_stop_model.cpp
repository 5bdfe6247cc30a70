// An interrupted task: the stop of a node beside it against the end of the body.
#include <roost/sync/event.hpp>
#include <roost/task/until_stop.hpp>

#include "model_rig.hpp"

namespace {

using namespace roost;
using namespace roost::seam;
using model_rig::finish;
using model_rig::run_until;
using roost::testing::check;

task<int> wait_for(event& e) {
    co_await e.wait();
    co_return 1;
}
task<> watch_it(token watched, event& e, int& got, bool& stopped) {
    const std::optional<int> value = co_await until_stop(watched, wait_for(e));
    if (value) {
        got = *value;
    } else {
        stopped = true;
    }
}

// SHUT-76: exactly one of the two happens, and when the body goes on no stopping thread is inside the await.
MODEL(until_stop_model, stop_vs_return) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    owned_scope other(ex, scope_options("other").report_failures());
    event e;
    int got = 0;
    bool stopped = false;
    const job j = root.launch("watching", watch_it(other.observe(), e, got, stopped));
    ex.run_all();
    thread stopper([&] {
        detail::tree_access::target_of(other.observe())->stop(reason::plain_kind(reason_kind::shutdown));
        ex.wake();
    });
    e.set();
    run_until(ex, [&] { return j.is_finished(); });
    stopper.join();
    check((got == 1) != stopped, "SHUT-76: a value or the stop, never both");
    check(j.state() == job_state::completed, "SHUT-76: the body went on");
    other.request_close();
    finish(ex, root);
}

}  // namespace
