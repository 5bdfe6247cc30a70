#include <roost/runtime/detail/pulse.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost;
using namespace roost::seam;

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
}

TEST(pulse, RUN_151_a_label_is_looked_at_only_while_its_thread_runs) {
    if (!has_heavy_barrier()) {
        GTEST_SUCCEED() << "this kernel has no membarrier";
        return;
    }
    detail::pulse p;
    const detail::activity_label mine("mine", site());
    const detail::running_as scope(mine);
    std::string seen;
    const auto see = [&](const detail::activity_label& what) noexcept { seen = what.name(); };
    EXPECT_FALSE(p.look(see));
    p.set_label(&detail::activity::of_this_thread());
    EXPECT_TRUE(p.look(see));
    EXPECT_EQ(seen, "mine");
    p.set_label(nullptr);
    EXPECT_FALSE(p.look(see));
}

}  // namespace
