#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace roost;

namespace {

task<> wait_for(event& e) { co_await e.wait(); }
task<> nothing() { co_return; }

TEST(root_block, JOB_29_ends_when_it_is_closed_and_everything_below_has_ended) {
    rig::manual ex;
    event e;
    owned_scope root(ex, scope_options("service").report_failures());
    root.launch("waits", wait_for(e));
    ex.run();
    root.request_close();
    EXPECT_FALSE(root.is_closed());
    e.set();
    ex.run();
    EXPECT_TRUE(root.is_closed());
}

TEST(root_block, JOB_14_a_closed_root_refuses_outsiders_and_destroys_the_task) {
    rig::manual ex;
    owned_scope root(ex, scope_options("root").report_failures());
    root.request_close();
    EXPECT_TRUE(root.is_closed());
    const job refused = root.launch("late", nothing());
    EXPECT_FALSE(refused);
    const deferred<void> none = root.async("late", nothing());
    EXPECT_FALSE(none);
}

TEST(root_block_death, JOB_29_destroying_it_early_is_a_named_bug) {
    EXPECT_DEATH(
        {
            rig::manual ex;
            owned_scope root(ex, scope_options("forgotten").report_failures());
        },
        "'forgotten'.*destroyed before a close.. had completed");
}

}  // namespace
