#include <roost/task/detail/carried_failures.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <vector>

namespace {

using roost::detail::carried_failures;

using roost::detail::failure_list;

std::exception_ptr made(const char* text) { return std::make_exception_ptr(std::runtime_error(text)); }
failure_list only(const std::exception_ptr& error) {
    failure_list one;
    one.add(error);
    return one;
}

TEST(carried_failures, JOB_100_they_are_found_by_the_exception_they_travel_with_in_order) {
    carried_failures all;
    const std::exception_ptr one = made("one");
    const std::exception_ptr two = made("two");
    const std::vector<std::exception_ptr> others{made("a"), made("b"), made("c")};
    all.add(one, only(others[0]));
    all.add(two, only(others[1]));
    all.add(one, only(others[2]));
    EXPECT_EQ(all.size(), 2U);
    EXPECT_EQ(all.beside(one).to_vector(), (std::vector<std::exception_ptr>{others[0], others[2]}));
    EXPECT_EQ(all.take(one).to_vector(), (std::vector<std::exception_ptr>{others[0], others[2]}));
    EXPECT_TRUE(all.take(one).is_empty()) << "taken once";
    EXPECT_TRUE(all.beside(one).is_empty());
    EXPECT_EQ(all.beside(two).to_vector(), std::vector<std::exception_ptr>{others[1]});
    EXPECT_TRUE(all.beside(made("one")).is_empty()) << "another object with the same text";
    EXPECT_TRUE(all.beside(nullptr).is_empty());
    all.clear();
    EXPECT_EQ(all.size(), 0U);
    EXPECT_TRUE(all.beside(two).is_empty());
}

TEST(carried_failures, JOB_100_the_oldest_goes_when_there_are_more_than_are_kept) {
    carried_failures all;
    std::vector<std::exception_ptr> thrown;
    for (std::size_t i = 0; i < carried_failures::exceptions_kept + 2; ++i) {
        thrown.push_back(made("thrown"));
        all.add(thrown.back(), only(made("other")));
    }
    EXPECT_EQ(all.size(), carried_failures::exceptions_kept);
    EXPECT_TRUE(all.beside(thrown[0]).is_empty());
    EXPECT_TRUE(all.beside(thrown[1]).is_empty());
    EXPECT_EQ(all.beside(thrown[2]).to_vector().size(), 1U);
    EXPECT_EQ(all.beside(thrown.back()).to_vector().size(), 1U);
}

}  // namespace
