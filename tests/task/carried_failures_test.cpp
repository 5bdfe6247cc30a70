#include <roost/task/detail/job/carried_failures.hpp>

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
    EXPECT_TRUE(all.add(one, only(others[0])).is_empty());
    EXPECT_TRUE(all.add(two, only(others[1])).is_empty());
    EXPECT_TRUE(all.add(one, only(others[2])).is_empty());
    EXPECT_EQ(all.beside(one).to_vector(), (std::vector<std::exception_ptr>{others[0], others[2]}));
    EXPECT_EQ(all.take(one).to_vector(), (std::vector<std::exception_ptr>{others[0], others[2]}));
    EXPECT_TRUE(all.take(one).is_empty()) << "taken once";
    EXPECT_TRUE(all.beside(one).is_empty());
    EXPECT_EQ(all.beside(two).to_vector(), std::vector<std::exception_ptr>{others[1]});
    EXPECT_TRUE(all.beside(made("one")).is_empty()) << "another object with the same text";
    EXPECT_TRUE(all.beside(nullptr).is_empty());
    all.clear();
    EXPECT_TRUE(all.beside(two).is_empty());
}

class added {
public:
    // Keeps the exception only if `holds`.
    failure_list add(bool holds) {
        const std::exception_ptr thrown = made("thrown");
        addresses.push_back(thrown);
        failure_list dropped = all.add(thrown, only(made("other")));
        if (!holds) {
            addresses.back() = nullptr;
        }
        return dropped;
    }
    carried_failures all;
    std::vector<std::exception_ptr> addresses;
};

TEST(carried_failures, JOB_100_what_an_exception_that_is_held_brought_stays) {
    added a;
    for (std::size_t i = 0; i < carried_failures::exceptions_kept + 2; ++i) {
        EXPECT_TRUE(a.add(true).is_empty());
    }
    for (const std::exception_ptr& thrown : a.addresses) {
        EXPECT_EQ(a.all.beside(thrown).to_vector().size(), 1U);
    }
    for (int i = 0; i < 1000; ++i) {
        EXPECT_TRUE(a.add(false).is_empty()) << "caught and gone: nothing hears of it";
    }
    EXPECT_EQ(a.all.beside(a.addresses.front()).to_vector().size(), 1U) << "it may be thrown again";
}

TEST(carried_failures, JOB_100_of_too_many_that_are_held_the_oldest_is_given_back) {
    added a;
    for (std::size_t i = 0; i < carried_failures::held_exceptions_kept; ++i) {
        EXPECT_TRUE(a.add(true).is_empty());
    }
    EXPECT_EQ(a.add(true).to_vector().size(), 1U);
    EXPECT_TRUE(a.all.beside(a.addresses.front()).is_empty());
    EXPECT_FALSE(a.all.beside(a.addresses[1]).is_empty());
}

}  // namespace
