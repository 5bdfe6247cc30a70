// An interrupted task whose node goes while it begins.

#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/until_stop.hpp>

#include <memory>

#include "../task/model_rig.hpp"

namespace {

using namespace roost;
using namespace roost::seam;
using model_rig::finish;
using roost::testing::check;

task<> wait_for(event& e) { co_await e.wait(); }
task<> watch_it(roost::interrupt<task<>> i, bool& ended) {
    const auto got = co_await std::move(i);
    ended = !got.has_value();
}

// SHUT-46, SHUT-80: the last owner goes while the task begins. The node can no longer be stopped, so the await ends by itself.
MODEL(interrupted_task_model, gone_while_beginning) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    const shutdown top;
    auto c = std::make_unique<shutdown>(top.child());
    event never;
    bool ended = false;
    root.launch("watching", watch_it(c->interrupt(wait_for(never)), ended));
    thread dropper([&] { c.reset(); });
    ex.run_all();
    dropper.join();
    ex.run_all();
    check(ended, "SHUT-46: it never waits for ever");
    finish(ex, root);
}

// SHUT-76, SHUT-80: stop instead.
MODEL(interrupted_task_model, stop_while_beginning) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    const shutdown s;
    event never;
    bool ended = false;
    root.launch("watching", watch_it(s.interrupt(wait_for(never)), ended));
    thread stopper([&] { s.shut_down(); });
    ex.run_all();
    stopper.join();
    ex.run_all();
    check(ended, "SHUT-76: stop always wakes it");
    finish(ex, root);
}

}  // namespace
