#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/shield.hpp>
#include <roost/tree/visit.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace roost;
using namespace roost::observe;

namespace {

task<> count_after(event& e, int& count) {
    co_await e.wait();
    ++count;
}
task<> fail_after_event(event& e) {
    co_await e.wait();
    throw std::runtime_error("refresh");
}
task<> wait_for(event& e) { co_await e.wait(); }
task<> close_it(owned_scope& o, bool& done) {
    co_await o.close();
    done = true;
}
task<> close_and_catch(owned_scope& o, std::string& what) {
    try {
        co_await o.close();
    } catch (const std::runtime_error& e) {
        what = e.what();
    }
}

TEST(owned_scope, JOB_37_close_waits_for_the_children_and_refuses_later_ones) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    event e;
    int count = 0;
    bool done = false;
    o.launch("a", count_after(e, count));
    s.play(close_it(o, done));
    EXPECT_FALSE(done);
    EXPECT_FALSE(o.launch("late", count_after(e, count))) << "refused with a value";
    e.set();
    s.run();
    EXPECT_TRUE(done);
    EXPECT_TRUE(o.is_closed());
    EXPECT_EQ(count, 1);
}

TEST(owned_scope, JOB_37_an_empty_one_closes_at_once) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    bool done = false;
    s.play(close_it(o, done));
    EXPECT_TRUE(done);
}

TEST(owned_scope, JOB_37_close_throws_the_first_failure_and_the_siblings_were_cancelled) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    event e;
    event never;
    int count = 0;
    o.launch("fails", fail_after_event(e));
    const job other = o.launch("waits", count_after(never, count));
    s.run();
    e.set();
    s.run();
    EXPECT_EQ(other.state(), job_state::cancelled);
    std::string what;
    s.play(close_and_catch(o, what));
    EXPECT_EQ(what, "refresh");
}

TEST(owned_scope, JOB_37_closing_is_not_abandoned_a_cancel_is_passed_on) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    event never;
    int count = 0;
    bool done = false;
    const job child = o.launch("waits", count_after(never, count));
    const job closer = s.play(close_it(o, done));
    closer.cancel();
    s.run();
    EXPECT_EQ(child.state(), job_state::cancelled);
    EXPECT_TRUE(o.is_closed());
    EXPECT_EQ(closer.state(), job_state::completed) << "leaving is no checkpoint";
}

task<> hold_in_shield(event& e) { co_await shield(duration::max(), wait_for(e)); }

TEST(owned_scope, JOB_37_an_abort_does_not_abandon_the_close_either) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    auto [answer, promise] = make_promise<int>(o, "answer", external_cancel::uninterruptible);
    const job child = answer.as_job();
    bool done = false;
    const job closer = s.play(close_it(o, done));
    closer.tree_node().abort();
    s.run();
    EXPECT_FALSE(closer.is_finished()) << "there is still a child";
    EXPECT_EQ(child.tree_node().level(), level::abort);
    promise.set_value(1);
    s.run();
    EXPECT_TRUE(o.is_closed());
    EXPECT_EQ(closer.state(), job_state::completed) << "leaving is no checkpoint";
}

TEST(owned_scope, JOB_37_an_abort_is_passed_on_as_one) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    event never;
    bool done = false;
    const job child = o.launch("shielded", hold_in_shield(never));
    const job closer = s.play(close_it(o, done));
    closer.cancel();
    s.run();
    EXPECT_FALSE(child.is_finished()) << "its shield holds a cancel up";
    closer.tree_node().abort();
    s.run();
    EXPECT_EQ(child.state(), job_state::cancelled);
    EXPECT_TRUE(closer.is_finished());
}

TEST(owned_scope, JOB_37_reports_say_what_the_one_who_closes_it_waits_for) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    event e;
    int count = 0;
    bool done = false;
    o.launch("a", count_after(e, count));
    s.play(close_it(o, done));
    const std::string text = tree_to_string(s.root.tree_node());
    EXPECT_NE(text.find("owned scope 'feed'"), std::string::npos) << text;
    e.set();
    s.run();
    EXPECT_TRUE(done);
}

using owned_scope_death_test = ::testing::Test;

TEST(owned_scope_death_test, JOB_38_destroying_it_unclosed_prints_the_tree_and_ends_the_program) {
    EXPECT_DEATH(
        {
            rig::manual ex;
            event never;
            int count = 0;
            owned_scope o(ex, "feed");
            o.launch("stuck refresh", count_after(never, count));
            ex.run();
        },
        "stuck refresh(.|\n)*owned scope 'feed'.*before a close");
}

}  // namespace
