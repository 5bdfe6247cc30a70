#include <roost/runtime/detail/pulse.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost;

TEST(pulse, RUN_70_every_body_has_its_own_beat) {
    detail::pulse p;
    EXPECT_FALSE(detail::pulse::is_in_body(p.read())) << "before the first";
    p.begin_body();
    const std::uint64_t first = p.read();
    EXPECT_TRUE(detail::pulse::is_in_body(first));
    p.begin_body();
    EXPECT_NE(p.read(), first);
    EXPECT_TRUE(detail::pulse::is_in_body(p.read()));
    p.rest();
    EXPECT_FALSE(detail::pulse::is_in_body(p.read()));
    p.begin_body();
    EXPECT_TRUE(detail::pulse::is_in_body(p.read()));
    EXPECT_EQ(p.bodies(), 3U);
    EXPECT_EQ(p.label(), nullptr);
}

}  // namespace
