#include <roost/service/service.hpp>
#include <gtest/gtest.h>
TEST(service, SVC_1_first) {
    EXPECT_EQ(roost::service::run([](roost::service::host&) -> roost::task<> { co_return; }), 0);
}
