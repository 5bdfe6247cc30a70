#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace roost;

namespace {

task<> wait_for(event& e) { co_await e.wait(); }
task<> nothing() { co_return; }

TEST(root, JOB_29_ends_when_it_is_closed_and_everything_below_has_ended) {
    rig::manual ex;
    event e;
    root_scope root(ex, "service");
    root.launch("waits", wait_for(e));
    ex.run();
    root.close();
    EXPECT_FALSE(root.has_ended());
    e.set();
    ex.run();
    EXPECT_TRUE(root.has_ended());
}

TEST(root, JOB_14_a_closed_root_refuses_outsiders_and_destroys_the_task) {
    rig::manual ex;
    root_scope root(ex);
    root.close();
    EXPECT_TRUE(root.has_ended());
    const job refused = root.launch("late", nothing());
    EXPECT_FALSE(refused);
    const deferred<void> none = root.async("late", nothing());
    EXPECT_FALSE(none);
}

TEST(root_death, JOB_29_destroying_it_early_is_a_named_bug) {
    EXPECT_DEATH(
        {
            rig::manual ex;
            root_scope root(ex, "forgotten");
        },
        "'forgotten'.*before it was closed and joined");
}

}  // namespace
