#include <roost/task/detail/job/failure_list.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <vector>

namespace {

using roost::detail::failure_list;
using errors = std::vector<std::exception_ptr>;

std::exception_ptr made(const char* text) { return std::make_exception_ptr(std::runtime_error(text)); }

TEST(failure_list, JOB_100_failures_are_kept_in_order_and_lists_are_put_together) {
    const errors e{made("a"), made("b"), made("c"), made("d")};
    failure_list one;
    EXPECT_TRUE(one.is_empty());
    EXPECT_TRUE(one.to_vector().empty());
    one.add(e[0]);
    one.add(e[1]);
    failure_list two;
    two.add(one);
    EXPECT_EQ(two.to_vector(), (errors{e[0], e[1]})) << "into an empty one";
    two = failure_list();
    two.add(e[2]);
    two.add(e[3]);
    const failure_list kept = one;
    one.add(two);
    one.add(failure_list());
    EXPECT_EQ(one.to_vector(), e);
    EXPECT_EQ(kept.to_vector(), (errors{e[0], e[1]})) << "a copy does not change";
    EXPECT_EQ(two.to_vector(), (errors{e[2], e[3]}));
    EXPECT_EQ(one.to_vector(e[1]), (errors{e[0], e[2], e[3]})) << "all but that";
    errors seen;
    one.for_each([&seen](const std::exception_ptr& error) { seen.push_back(error); }, e[0]);
    EXPECT_EQ(seen, (errors{e[1], e[2], e[3]}));
    const failure_list moved = std::move(one);
    EXPECT_EQ(moved.to_vector(), e);
}

TEST(failure_list, JOB_100_what_comes_two_ways_is_seen_once) {
    const errors e{made("a"), made("b")};
    failure_list all;
    all.add(e[0]);
    all.add(e[1]);
    all.add(e[0]);
    EXPECT_EQ(all.to_vector(), e);
    for (int i = 0; i < 100; ++i) {  // twice as often each time
        const failure_list again = all;
        all.add(again);
    }
    EXPECT_EQ(all.to_vector(), e);
}

TEST(failure_list, JOB_104_long_lists_of_either_shape_take_constant_stack) {
    constexpr int levels = 300'000;
    const std::exception_ptr last = made("last");
    failure_list to_the_left;
    failure_list to_the_right;
    for (int i = 0; i < levels; ++i) {
        to_the_left.add(made("one"));
        failure_list above;
        above.add(made("one"));
        above.add(to_the_right);
        to_the_right = std::move(above);
    }
    to_the_left.add(last);
    EXPECT_EQ(to_the_left.to_vector().size(), static_cast<std::size_t>(levels) + 1);
    EXPECT_EQ(to_the_left.to_vector().back(), last);
    EXPECT_EQ(to_the_right.to_vector().size(), static_cast<std::size_t>(levels));
}

}  // namespace
