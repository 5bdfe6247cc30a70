// What co_await does with an x: its member operator, a free one, or x itself.

#include <roost/exec/detail/awaitable.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost::detail;

struct awaits_int {
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int await_resume() const noexcept { return 1; }
};
struct cancellable_bool : awaits_int {
    bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
    bool try_cancel() noexcept { return true; }
};
struct throwing_cancel : awaits_int {
    bool try_cancel() { return true; }
};
struct by_member {
    awaits_int operator co_await() && noexcept { return {}; }
    awaits_int& operator co_await() & noexcept { return awaiter; }
    awaits_int awaiter;
};
struct by_free {};
cancellable_bool operator co_await(by_free) noexcept { return {}; }
struct plain {};
struct half {
    void await_resume() const noexcept {}
};

static_assert(awaitable<awaits_int> && awaitable<awaits_int&> && awaitable<by_member> && awaitable<by_free>);
static_assert(!awaitable<plain> && !awaitable<half> && !awaitable<int> && !is_awaiter<by_member>);
static_assert(std::is_same_v<awaiter_of<awaits_int>, awaits_int&&> && std::is_same_v<awaiter_of<awaits_int&>, awaits_int&>);
static_assert(std::is_same_v<awaiter_of<by_member>, awaits_int> && std::is_same_v<awaiter_of<by_member&>, awaits_int&>);
static_assert(std::is_same_v<awaiter_of<by_free>, cancellable_bool> && std::is_same_v<awaiter_of<plain&>, plain&>);
static_assert(std::is_same_v<awaited_result<by_member>, int> && std::is_same_v<awaiter_result<awaits_int&>, int>);
static_assert(can_be_cancelled<awaiter_of<by_free>> && !can_be_cancelled<awaits_int> && !can_be_cancelled<throwing_cancel>);

TEST(awaitable, TASK_15_the_awaiter_of_an_lvalue_is_the_object_itself) {
    awaits_int own;
    EXPECT_EQ(&get_awaiter(own), &own);
    by_member other;
    EXPECT_EQ(&get_awaiter(other), &other.awaiter);
}

TEST(awaitable, TASK_15_a_wait_that_returns_nothing_is_suspended) {
    awaits_int nothing;
    cancellable_bool goes_on;
    EXPECT_TRUE(suspend_in(nothing, std::noop_coroutine()));
    EXPECT_FALSE(suspend_in(goes_on, std::noop_coroutine()));
}

}  // namespace
