#include <roost/base/reason.hpp>

#include <gtest/gtest.h>

#include <string>

static_assert(sizeof(roost::reason) == sizeof(void*));
static_assert(std::is_nothrow_copy_constructible_v<roost::reason>);
static_assert(std::is_nothrow_move_assignable_v<roost::reason>);

namespace {

using roost::reason;
using roost::reason_kind;

TEST(reason, BASE_10_empty_by_default) {
    const reason none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.kind(), reason_kind::none);
    EXPECT_EQ(none.payload(), nullptr);
    EXPECT_EQ(none.to_string(), "none");
}

TEST(reason, BASE_10_carries_everything) {
    const reason why(reason_kind::timeout, "slow backend", std::any(42));
    const reason placed = roost::detail::base_access::at_origin(why, "request");
    EXPECT_EQ(placed.kind(), reason_kind::timeout);
    EXPECT_EQ(placed.text(), "slow backend");
    EXPECT_EQ(placed.origin(), "request");
    ASSERT_NE(placed.payload(), nullptr);
    EXPECT_EQ(std::any_cast<int>(*placed.payload()), 42);
    EXPECT_NE(placed.to_string().find("timeout: slow backend ("), std::string::npos);
    EXPECT_NE(placed.to_string().find("at 'request')"), std::string::npos);
    EXPECT_EQ(why.origin(), "") << "the first reason is immutable";
}

TEST(reason, BASE_10_the_first_origin_stays) {
    const reason why = roost::detail::base_access::at_origin(
        roost::detail::base_access::at_origin(reason(reason_kind::requested, "x"), "inner"), "outer");
    EXPECT_EQ(why.origin(), "inner");
}

TEST(reason, BASE_10_a_copy_outlives_the_original) {
    reason copy;
    {
        const reason original(reason_kind::failure, std::string(100, 'a'));
        copy = original;
    }
    EXPECT_EQ(copy.text().size(), 100U);
    const reason moved = std::move(copy);
    EXPECT_EQ(moved.text().size(), 100U);
}

TEST(reason, BASE_10_kind_only_shares_one_record) {
    for (int i = 0; i < 8; ++i) {
        const auto kind = static_cast<reason_kind>(i);
        const reason why = reason::plain_kind(kind);
        EXPECT_EQ(why.kind(), kind);
        EXPECT_EQ(why.to_string(), to_string(kind));
    }
}

}  // namespace
