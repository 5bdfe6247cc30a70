// Awaitables that can't be withdrawn.

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include "../sync/coroutines.hpp"

namespace {

using roost::shutdown;
using sync_testing::hand_executor;
using sync_testing::hosted;

// Knows nothing of Roost, keeps the handle.
class foreign {
public:
    explicit foreign(std::coroutine_handle<>& slot) noexcept : slot_(&slot) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const noexcept { *slot_ = h; }
    [[nodiscard]] int await_resume() const noexcept { return 7; }

private:
    std::coroutine_handle<>* slot_;
};

hosted await_finish(roost::executor&, shutdown s, std::coroutine_handle<>& slot, int& result) {
    auto r = co_await s.interrupt(roost::finish(foreign(slot)));
    result = r ? *r : -1;
}
hosted await_abandon(roost::executor&, shutdown s, std::coroutine_handle<>& slot, int& result) {
    auto r = co_await s.interrupt(roost::abandon(foreign(slot)));
    result = r ? *r : -1;
}

TEST(abandon, SHUT_70_finish_sees_it_through) {
    hand_executor where;
    const shutdown s;
    std::coroutine_handle<> slot;
    int result = 0;
    auto a = await_finish(where, s, slot, result);
    s.shut_down();
    where.run();
    EXPECT_EQ(result, 0);
    slot.resume();
    EXPECT_EQ(result, 7);
    auto b = await_finish(where, s, slot, result);
    EXPECT_EQ(result, -1);
}

TEST(abandon, SHUT_70_abandon_leaves_it_running) {
    hand_executor where;
    const shutdown s;
    std::coroutine_handle<> slot;
    int result = 0;
    auto a = await_abandon(where, s, slot, result);
    s.shut_down();
    where.run();
    EXPECT_EQ(result, -1);
    slot.resume();  // its result is thrown away
    EXPECT_EQ(result, -1);
}

TEST(abandon, SHUT_70_abandon_gives_the_value_when_it_is_first) {
    hand_executor where;
    const shutdown s;
    std::coroutine_handle<> slot;
    int result = 0;
    auto a = await_abandon(where, s, slot, result);
    slot.resume();
    where.run();
    EXPECT_EQ(result, 7);
}

}  // namespace
