#include <roost/testing/manual_executor.hpp>
#include <roost/testing/sequencer.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost;
using namespace roost::seam;
using roost::testing::manual_executor;
using roost::testing::sequencer;

TEST(sequencer, RUN_90_forces_the_order_of_threads) {
    for (int round = 0; round < 50; ++round) {
        sequencer order;
        std::string said;
        thread a([&] {
            order.reach(2);
            said += 'a';
            order.reach(3);
        });
        thread b([&] {
            order.reach(1);
            order.reach(4);
            said += 'b';
            order.reach(5);
        });
        order.reach(6);
        EXPECT_EQ(said, "ab");
        a.join();
        b.join();
        EXPECT_EQ(order.reached(), 6U);
    }
}

struct detached {
    struct promise_type {
        executor_ref where;
        promise_type() = default;
        template <class... Rest>
        explicit promise_type(executor_ref e, Rest&...) : where(e) {}
        [[nodiscard]] executor_ref get_executor() const noexcept { return where; }
        detached get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

detached step(executor_ref, sequencer* order, std::uint32_t n, std::string* said, char c) {
    co_await order->wait(n);
    *said += c;
}

TEST(sequencer, RUN_91_forces_the_order_of_coroutines_and_threads) {
    manual_executor e;
    sequencer order;
    std::string said;
    step(e, &order, 3, &said, 'c');
    step(e, &order, 2, &said, 'b');
    EXPECT_EQ(e.pending(), 0U);
    order.reach(1);
    EXPECT_EQ(e.run_all(), 2U) << "resumed through their executor, never inside reach()";
    EXPECT_EQ(said, "bc");
    EXPECT_EQ(order.reached(), 3U);
    step(e, &order, 4, &said, 'd');
    EXPECT_EQ(said, "bcd") << "its turn at once";
}

TEST(sequencer_death, RUN_92_a_missing_step_is_named) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        {
            sequencer order(std::chrono::milliseconds(10));
            order.reach(1);
            order.reach(3);
        },
        "sequencer 'step 3' .made at .*sequencer_test.cpp:.*: it waited too long for step 2, which was not reached");
    EXPECT_DEATH(
        {
            sequencer order;
            order.reach(1);
            order.reach(1);
        },
        "sequencer 'step 1' .*reached twice");
}

}  // namespace
