#include <roost/runtime/blocking_lane.hpp>

#include "fixture.hpp"

#include <gtest/gtest.h>

namespace {

using namespace runtime_tests;

struct job : blocking_work {
    explicit job(std::function<void()> f)
        : blocking_work(+[](work& w) noexcept { static_cast<job&>(w).body(); }), body(std::move(f)) {}
    std::function<void()> body;
};

TEST(blocking_lane, RUN_45_runs_at_most_so_many_at_once_and_queues_the_rest_in_order) {
    blocking_lane lane(2, "lane");
    atomic<int> inside{0};
    atomic<int> most{0};
    countdown done(20);
    std::vector<std::unique_ptr<job>> all;
    for (int i = 0; i < 20; ++i) {
        all.push_back(std::make_unique<job>([&] {
            const int here = inside.fetch_add(1, mo::acq_rel) + 1;
            int seen = most.load(mo::relaxed);
            while (here > seen && !most.compare_exchange_weak(seen, here, mo::relaxed, mo::relaxed)) {}
            yield_thread();
            inside.fetch_sub(1, mo::acq_rel);
            done.down();
        }));
        EXPECT_TRUE(lane.submit(*all.back()));
    }
    done.wait();
    EXPECT_LE(most.load(mo::relaxed), 2);
    EXPECT_LE(lane.threads(), 2U);
}

TEST(blocking_lane, RUN_46_what_has_not_started_can_be_withdrawn) {
    blocking_lane lane(1);
    countdown gate(1);
    std::string order;
    job first([&] { gate.wait(); });
    job second([&] { order += '2'; });
    job third([&] { order += '3'; });
    job fourth([&] { order += '4'; });
    EXPECT_TRUE(lane.submit(first));
    while (lane.queued() != 0) {
        yield_thread();
    }
    EXPECT_TRUE(lane.submit(second) && lane.submit(third) && lane.submit(fourth));
    EXPECT_FALSE(lane.withdraw(first)) << "it runs";
    EXPECT_TRUE(lane.withdraw(third));
    EXPECT_FALSE(lane.withdraw(third)) << "gone already";
    gate.down();
    lane.close();
    EXPECT_EQ(order, "24");
    EXPECT_TRUE(!lane.withdraw(second));
}

TEST(blocking_lane, RUN_47_close_runs_the_queue_then_refuses) {
    int ran = 0;
    blocking_lane lane(1);
    job a([&] { ++ran; });
    job b([&] { ++ran; });
    EXPECT_TRUE(lane.submit(a) && lane.submit(b));
    lane.close();
    EXPECT_EQ(ran, 2);
    EXPECT_FALSE(lane.submit(a));
    EXPECT_EQ(lane.threads(), 0U);
}

TEST(blocking_lane, RUN_48_idle_threads_end_and_new_ones_come) {
    blocking_lane lane(4, "lane", std::chrono::milliseconds(1));
    for (int round = 0; round < 3; ++round) {
        countdown done(1);
        job a([&] { done.down(); });
        EXPECT_TRUE(lane.submit(a));
        done.wait();
        while (lane.threads() != 0) {
            yield_thread();
        }
    }
}

}  // namespace
