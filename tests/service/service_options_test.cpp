#include <roost/service/service_options.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace roost::service {
namespace {

static_assert(std::is_copy_constructible_v<options> && std::is_nothrow_move_constructible_v<options>);

TEST(service_options, SVC_64_the_defaults_are_those_of_the_documents) {
    const options o;
    EXPECT_EQ(o.budgets().total(), std::chrono::seconds(25));
    EXPECT_EQ(o.report_every(), std::chrono::seconds(2));
    EXPECT_EQ(o.live_within(), std::chrono::seconds(10));
    EXPECT_EQ(o.environment(), "ROOST_SHUTDOWN");
    EXPECT_EQ(o.sink(), &log_to_stderr);
    EXPECT_EQ(o.log_buffer(), std::size_t{4} << 20U);
    EXPECT_TRUE(o.signals());
    EXPECT_FALSE(static_cast<bool>(o.on()));
}

TEST(service_options, SVC_64_each_can_be_changed) {
    constexpr options o = options()
                              .name("shop")
                              .total(std::chrono::seconds(50))
                              .budget(phase::drain, std::chrono::seconds(30))
                              .environment("SHOP")
                              .report_every(std::chrono::seconds(1))
                              .live_within(std::chrono::seconds(3))
                              .log_buffer(8192)
                              .signals(false);
    EXPECT_EQ(o.name(), "shop");
    EXPECT_EQ(o.budgets().get(phase::drain), std::chrono::seconds(30));
    EXPECT_EQ(o.environment(), "SHOP");
    EXPECT_EQ(o.report_every(), std::chrono::seconds(1));
    EXPECT_EQ(o.live_within(), std::chrono::seconds(3));
    EXPECT_EQ(o.log_buffer(), 8192U);
    EXPECT_FALSE(o.signals());
}

}  // namespace
}  // namespace roost::service
