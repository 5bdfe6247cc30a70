#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/testing/suspended.hpp>

#include <gtest/gtest.h>

using namespace roost;

namespace {

task<> wait_for(event& e) { co_await e.wait(); }

TEST(suspended, RUN_94_the_leak_report_names_suspended_jobs) {
    roost::testing::virtual_time time;
    event never;
    owned_scope root(time, scope_options("service").report_failures());
    roost::testing::watch(time, root);
    EXPECT_EQ(time.leaks(), "");
    root.launch("forgotten waiter", wait_for(never));
    time.run();
    const std::string left = time.leaks();
    EXPECT_NE(left.find("forgotten waiter"), std::string::npos) << left;
    EXPECT_NE(left.find("suspended_test.cpp"), std::string::npos) << left;
    never.set();
    time.run();
    EXPECT_EQ(time.leaks(), "");
    root.request_close();
}

}  // namespace
