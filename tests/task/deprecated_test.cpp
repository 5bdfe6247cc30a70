// The names of the release before still work.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <roost/task/deprecated.hpp>

#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>

#include "rig.hpp"

#include <stdexcept>

namespace {

using namespace roost;
using rig::stage;

task<> count(int& n) {
    ++n;
    co_return;
}
task<> fail_now() {
    throw std::runtime_error("planned");
    co_return;
}

task<> limited(scope& s, int& n) {
    co_await s.room();
    s.launch("one", count(n));
    EXPECT_LE(s.free_slots(), 2U);
}
task<> serving(scope& s, event& never, job& out) {
    out = s.daemon("service", [](event& e) -> task<> { co_await e.wait(); }(never));
    co_return;
}
task<> collecting(scope& s, int& n) {
    s.launch("fails", fail_now());
    s.launch("goes on", count(n));
    co_return;
}
task<> use_all(int& n, event& never, job& service, bool& failed) {
    co_await with_scope(scope_options("limited scope").at_most(2), limited, std::ref(n));
    co_await with_scope(serving, std::ref(never), std::ref(service));
    const auto ended = co_await as_outcome(with_scope(scope_options("collect").keep_going(), collecting, std::ref(n)));
    failed = ended.has_error();
}

TEST(deprecated, JOB_64_JOB_65_JOB_66_former_names_of_scopes_work) {
    stage s;
    int n = 0;
    event never;
    job service;
    bool failed = false;
    s.play(use_all(n, never, service, failed));
    EXPECT_EQ(n, 2);
    EXPECT_EQ(service.state(), job_state::cancelled);
    EXPECT_TRUE(failed);
}

TEST(deprecated, JOB_29_root_scope_works) {
    stage s;
    int n = 0;
    owned_scope root(s.executor, scope_options("former").report_failures());
    root.launch("one", count(n));
    root.request_close();
    s.run();
    EXPECT_TRUE(root.is_closed());
    root.close_blocking();
    EXPECT_EQ(n, 1);
}

}  // namespace
