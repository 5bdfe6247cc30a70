#include <roost/exec/timer.hpp>

#include <gtest/gtest.h>

static_assert(!std::is_copy_constructible_v<roost::ext::timer>);

namespace {

struct counting_timer : roost::ext::timer {
    counting_timer() : timer([](roost::ext::timer& t) noexcept { ++static_cast<counting_timer&>(t).fired; }) {}
    int fired = 0;
};

TEST(timer, BASE_27_fires_what_it_was_given_and_starts_without_deadline) {
    counting_timer t;
    EXPECT_EQ(t.deadline(), roost::no_deadline);
    t.set_deadline(roost::time_point(roost::duration(5)));
    EXPECT_EQ(t.deadline().time_since_epoch().count(), 5);
    t.fire();
    EXPECT_EQ(t.fired, 1);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(timer, BASE_27_the_former_name_of_its_position_works) {
    counting_timer t;
    EXPECT_EQ(t.position, 0U);
    t.place = 7;
    EXPECT_EQ(t.place, 7U);
    EXPECT_EQ(static_cast<void*>(&t.place), static_cast<void*>(&t.position));
}
#pragma GCC diagnostic pop

}  // namespace
