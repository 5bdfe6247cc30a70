#include <roost/base/outcome.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

static_assert(std::is_nothrow_move_constructible_v<roost::outcome<int>>);
static_assert(!std::is_copy_constructible_v<roost::outcome<std::unique_ptr<int>>>);

namespace {

using roost::cancelled;
using roost::outcome;
using roost::reason;
using roost::reason_kind;

std::exception_ptr failure(const char* what) { return std::make_exception_ptr(std::runtime_error(what)); }

TEST(outcome, BASE_7_exactly_one_of_three) {
    const outcome<int> value(std::in_place, 7);
    EXPECT_TRUE(value.has_value() && !value.has_error() && !value.is_cancelled());
    EXPECT_EQ(value.value(), 7);
    EXPECT_EQ(value.error(), nullptr);
    EXPECT_FALSE(value.why());

    const outcome<int> error(failure("x"));
    EXPECT_TRUE(!error.has_value() && error.has_error() && !error.is_cancelled());

    const outcome<int> gone(cancelled(reason(reason_kind::timeout, "slow")));
    EXPECT_TRUE(!gone.has_value() && !gone.has_error() && gone.is_cancelled());
    EXPECT_EQ(gone.why().text(), "slow");
}

TEST(outcome, BASE_7_fresh_is_cancelled_without_reason) {
    const outcome<std::string> fresh;
    EXPECT_TRUE(fresh.is_cancelled());
    EXPECT_FALSE(fresh.why());
}

TEST(outcome, BASE_7_void_reference_and_move_only) {
    outcome<void> nothing(std::in_place);
    EXPECT_TRUE(nothing.has_value());
    nothing.value();
    std::move(nothing).value_or_throw();

    int target = 1;
    outcome<int&> ref(std::in_place, &target);
    ref.value() = 5;
    EXPECT_EQ(target, 5);
    EXPECT_EQ(&std::move(ref).value_or_throw(), &target);

    outcome<std::unique_ptr<int>> owner(std::in_place, std::make_unique<int>(3));
    const std::unique_ptr<int> taken = std::move(owner).value();
    EXPECT_EQ(*taken, 3);
}

TEST(outcome, BASE_8_error_keeps_its_type) {
    outcome<int> failed(failure("disk full"));
    EXPECT_THROW(std::move(failed).value_or_throw(), std::runtime_error);
    EXPECT_THROW(static_cast<void>(outcome<int>(failure("x")).value()), std::runtime_error);
    EXPECT_DEATH(static_cast<void>(outcome<int>().value()), "cancelled outcome, which holds no value");
    EXPECT_EQ(outcome<int>(failure("x")).status(), roost::wait_status::failed);
    EXPECT_EQ(outcome<int>(std::in_place, 1).status(), roost::wait_status::done);
    EXPECT_EQ(outcome<int>(std::in_place, 1).to_outcome().value(), 1);
    EXPECT_DEATH(static_cast<void>(outcome<int>().value_or_throw()), "holds no value");
}

TEST(outcome, BASE_9_other_errors_in_order) {
    outcome<int> failed(failure("first"));
    EXPECT_TRUE(failed.others().empty());
    failed.add_other(failure("second"));
    failed.add_other(failure("third"));
    ASSERT_EQ(failed.others().size(), 2U);
    try {
        std::rethrow_exception(failed.others()[0]);
    } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "second");
    }
    const outcome<int> moved(std::move(failed));
    EXPECT_EQ(moved.others().size(), 2U);
}

}  // namespace
