// One mapping of void and references, for what holds a result and for what a user keeps.

#include <roost/base/detail/result.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace {

using roost::detail::kept_t;
using roost::detail::made_of;
using roost::detail::optional_result;
using roost::detail::result_in;
using roost::detail::stored_t;

static_assert(std::is_same_v<stored_t<void>, std::monostate> && std::is_same_v<kept_t<void>, std::monostate>);
static_assert(std::is_same_v<stored_t<int&>, int*> && std::is_same_v<kept_t<int&>, std::reference_wrapper<int>>);
static_assert(std::is_same_v<stored_t<const int&>, const int*>);
static_assert(std::is_same_v<kept_t<const int&>, std::reference_wrapper<const int>>);
static_assert(std::is_same_v<stored_t<int&&>, int*> && std::is_same_v<stored_t<const int>, int>);
static_assert(std::is_same_v<stored_t<int>, int> && std::is_same_v<kept_t<int>, int>);
static_assert(std::is_same_v<optional_result<void>, bool> && std::is_same_v<optional_result<int&>, int*>);
static_assert(std::is_same_v<optional_result<const int>, std::optional<int>>);
static_assert(std::is_same_v<decltype(result_in<int&&>::take(std::declval<int*&>())), int&&>);

TEST(result, BASE_7_a_stored_result_is_returned_as_its_type) {
    std::unique_ptr<int> value = std::make_unique<int>(3);
    EXPECT_EQ(&result_in<std::unique_ptr<int>>::refer(value), &value);
    const std::unique_ptr<int> taken = result_in<std::unique_ptr<int>>::take(value);
    EXPECT_EQ(*taken, 3);
    EXPECT_EQ(value, nullptr);
    int there = 4;
    int* stored = &there;
    EXPECT_EQ(&result_in<int&>::take(stored), &there);
    EXPECT_EQ(&result_in<int&>::keep(stored).get(), &there);
    std::monostate nothing;
    result_in<void>::take(nothing);
    EXPECT_EQ(result_in<void>::keep(nothing), std::monostate());
}

TEST(result, BASE_7_a_result_is_made_of_a_call_also_of_one_that_returns_nothing) {
    int calls = 0;
    const auto none = made_of<std::optional<std::monostate>>::result([&calls] { ++calls; }, std::in_place);
    EXPECT_TRUE(none.has_value());
    EXPECT_EQ(calls, 1);
    const auto one =
        made_of<std::optional<std::unique_ptr<int>>>::result([] { return std::make_unique<int>(5); }, std::in_place);
    EXPECT_EQ(**one, 5);
    const auto refers = made_of<std::optional<kept_t<int&>>>::result([&calls]() -> int& { return calls; }, std::in_place);
    EXPECT_EQ(&refers->get(), &calls);
}

}  // namespace
