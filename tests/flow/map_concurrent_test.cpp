#include <roost/flow/map_concurrent.hpp>
#include <roost/task/sleep.hpp>

#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

class gauge {
public:
    int now = 0;
    int most = 0;
    int fail_at = -1;
    int starts = 0;
    int starts_at_failure = 0;
};
class square {
public:
    explicit square(gauge& g) noexcept : gauge_(&g) {}
    task<int> operator()(int i) const {
        ++gauge_->starts;
        gauge_->most = std::max(gauge_->most, ++gauge_->now);
        const int mine = i;
        gauge* g = gauge_;
        co_await sleep_for((10 - mine % 7) * 1ms);
        --g->now;
        if (mine == g->fail_at) {
            g->starts_at_failure = g->starts;
            throw std::runtime_error("item");
        }
        co_return mine* mine;
    }

private:
    gauge* gauge_;
};
task<> map_numbers(gauge& g, int count, std::size_t limit, std::vector<int>& out, bool& failed) {
    std::vector<int> numbers;
    for (int i = 0; i < count; ++i) {
        numbers.push_back(i);
    }
    try {
        out = co_await map_concurrent(numbers, limit, square(g));
    } catch (const std::runtime_error&) {
        failed = true;
    }
}

TEST(map_concurrent, JOB_44_never_runs_more_than_the_limit_and_keeps_the_order) {
    rig::stage s;
    gauge g;
    std::vector<int> out;
    bool failed = false;
    s.play(map_numbers(g, 50, 7, out, failed));
    for (int i = 0; i < 100; ++i) {
        s.advance(1ms);
    }
    ASSERT_EQ(out.size(), 50U);
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(out[static_cast<std::size_t>(i)], i * i);
    }
    EXPECT_EQ(g.most, 7);
}

TEST(map_concurrent, JOB_44_a_failure_starts_nothing_more) {
    rig::stage s;
    gauge g;
    g.fail_at = 3;
    std::vector<int> out;
    bool failed = false;
    s.play(map_numbers(g, 50, 2, out, failed));
    for (int i = 0; i < 30; ++i) {
        s.advance(1ms);
    }
    EXPECT_TRUE(failed);
    EXPECT_TRUE(out.empty());
    EXPECT_LE(g.starts_at_failure, 5) << "two at a time, and the fourth fails";
    EXPECT_EQ(g.starts, g.starts_at_failure);
}

class note_order {
public:
    explicit note_order(std::vector<int>& order) noexcept : order_(&order) {}
    task<int> operator()(int i) const {
        order_->push_back(i);
        return wait_some(i);
    }

private:
    static task<int> wait_some(int i) {
        co_await sleep_for((5 - i % 3) * 1ms);
        co_return i;
    }
    std::vector<int>* order_;
};
task<> map_in_order(std::vector<int>& order, std::vector<int>& out) {
    const std::vector<int> numbers{0, 1, 2, 3, 4, 5, 6, 7, 8};
    out = co_await map_concurrent(numbers, 3, note_order(order));
}

TEST(map_concurrent, JOB_93_on_one_thread_fn_is_called_in_the_order_of_the_items) {
    rig::stage s;
    std::vector<int> order;
    std::vector<int> out;
    s.play(map_in_order(order, out));
    for (int i = 0; i < 30; ++i) {
        s.advance(1ms);
    }
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(out, order);
}

// Each call returns when both are inside.
class meet {
public:
    explicit meet(std::atomic<int>& inside) noexcept : inside_(&inside) {}
    task<int> operator()(int i) const {
        ++*inside_;
        const auto late = std::chrono::steady_clock::now() + 20s;
        while (*inside_ < 2 && std::chrono::steady_clock::now() < late) {
            std::this_thread::yield();
        }
        return give(i, *inside_ == 2);
    }

private:
    static task<int> give(int i, bool met) { co_return met ? i : -1; }
    std::atomic<int>* inside_;
};
task<> map_meeting(std::atomic<int>& inside, std::vector<int>& out) {
    const std::vector<int> numbers{1, 2};
    out = co_await map_concurrent(numbers, 2, meet(inside));
}

TEST(map_concurrent, JOB_93_on_two_threads_two_calls_of_fn_overlap) {
    roost::testing::manual_executor ex;
    root_scope root(ex);
    std::atomic<int> inside{0};
    std::vector<int> out;
    root.launch("maps", map_meeting(inside, out));
    root.close();
    std::thread other([&] {
        ex.run_until_waiting([&] { return root.has_ended(); });
        ex.wake();
    });
    ex.run_until_waiting([&] { return root.has_ended(); });
    ex.wake();
    other.join();
    EXPECT_EQ(out, (std::vector<int>{1, 2})) << "neither call would have returned without the other";
}

TEST(map_concurrent, JOB_44_of_nothing_is_there_at_once) {
    rig::stage s;
    gauge g;
    std::vector<int> out(1);
    bool failed = false;
    const job j = s.play(map_numbers(g, 0, 3, out, failed));
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_TRUE(out.empty());
}

}  // namespace
