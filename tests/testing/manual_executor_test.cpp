#include <roost/testing/manual_executor.hpp>

#include <roost/base/atomic.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;

struct call : work {
    explicit call(std::function<void()> f)
        : work(+[](work& w) noexcept { static_cast<call&>(w).body(); }), body(std::move(f)) {}
    std::function<void()> body;
};

TEST(manual_executor, RUN_80_runs_only_when_told_in_the_order_of_posting) {
    roost::testing::manual_executor e("by hand");
    std::string order;
    call c([&] { order += 'c'; });
    call a([&] {
        order += 'a';
        EXPECT_TRUE(e.is_here());
        e.post(c);
    });
    call b([&] { order += 'b'; });
    EXPECT_TRUE(e.post(a) && e.post(b));
    EXPECT_EQ(order, "");
    EXPECT_EQ(e.pending(), 2U);
    EXPECT_TRUE(e.run_one());
    EXPECT_FALSE(e.is_here());
    EXPECT_EQ(order, "a");
    EXPECT_EQ(e.run_all(), 2U);
    EXPECT_EQ(order, "abc");
    EXPECT_FALSE(e.run_one());
    EXPECT_EQ(e.name(), "by hand");
}

TEST(manual_executor, RUN_81_until_something_holds) {
    roost::testing::manual_executor e;
    int count = 0;
    call* self = nullptr;
    call c([&] {
        ++count;
        e.post(*self);
    });
    self = &c;
    e.post(c);
    EXPECT_TRUE(e.run_until([&] { return count == 5; }));
    EXPECT_EQ(count, 5);
    c.body = [] {};
    EXPECT_FALSE(e.run_until([] { return false; })) << "nothing left to run";
}

TEST(manual_executor, RUN_82_waits_for_other_threads) {
    roost::testing::manual_executor e;
    int count = 0;
    call c([&] { ++count; });
    thread other([&] { e.post(c); });
    e.run_until_waiting([&] { return count == 1; });
    other.join();
    EXPECT_EQ(count, 1);
}

TEST(manual_executor, RUN_83_closed_refuses_and_keeps_what_it_has) {
    roost::testing::manual_executor e;
    int count = 0;
    call a([&] { ++count; });
    call b([&] { ++count; });
    EXPECT_TRUE(e.post(a));
    e.close();
    EXPECT_FALSE(e.post(b));
    EXPECT_EQ(e.run_all(), 1U);
}

TEST(manual_executor_death, RUN_83_lost_work_ends_the_program) {
    EXPECT_DEATH(
        {
            roost::testing::manual_executor e("by hand");
            call a([] {});
            e.post(a);
        },
        "manual executor 'by hand': it was destroyed with work that was never run");
}

}  // namespace
