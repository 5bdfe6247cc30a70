#include <roost/task/promise.hpp>

#include "model_rig.hpp"

namespace {

using namespace roost;
using namespace roost::seam;
using model_rig::finish;
using model_rig::run_until;
using roost::testing::check;

// JOB-25: setting the promise against a cancel that abandons: exactly one of them settles the child.
MODEL(promise_model, set_vs_cancel) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    auto made = make_promise<int>(root, "answer", external_cancel::abandon);
    const job j = made.first.as_job();
    made.first.keep();
    bool took = false;
    thread setter([&took, &ex, p = std::move(made.second)]() mutable {
        took = p.set_value(5);
        ex.wake();
    });
    j.cancel();
    run_until(ex, [&] { return j.is_finished(); });
    setter.join();
    check(took == (j.state() == job_state::completed), "JOB-25: the value counts exactly if set_value said so");
    finish(ex, root);
}

}  // namespace
