#include <roost/sync/event.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

generator<std::unique_ptr<int>> count_to(int n, rig::tracked) {
    for (int i = 1; i <= n; ++i) {
        if (i % 2 == 0) {
            co_await sleep_for(1ms);
        }
        co_yield std::make_unique<int>(i);
    }
}
task<> collect(int n, int& alive, std::vector<int>& out, bool& done) {
    auto numbers = count_to(n, rig::tracked(alive));
    for (;;) {
        std::unique_ptr<int>* item = co_await numbers.next();
        if (item == nullptr) {
            break;
        }
        auto mine = std::move(*item);
        out.push_back(*mine);
    }
    EXPECT_EQ(alive, 0) << "its locals go when it ends, before the asking side goes on";
    std::unique_ptr<int>* again = co_await numbers.next();
    EXPECT_EQ(again, nullptr) << "the end stays the end";
    done = true;
}

TEST(generator, JOB_48_gives_its_values_in_order_and_then_null) {
    rig::stage s;
    int alive = 0;
    std::vector<int> out;
    bool done = false;
    s.play(collect(4, alive, out, done));
    EXPECT_EQ(out, (std::vector<int>{1}));
    s.advance(1ms);
    s.advance(1ms);
    EXPECT_EQ(out, (std::vector<int>{1, 2, 3, 4}));
    EXPECT_TRUE(done);
}

TEST(generator, JOB_49_cancelling_the_asking_job_destroys_it_inside_an_await) {
    rig::stage s;
    int alive = 0;
    std::vector<int> out;
    bool done = false;
    const job j = s.play(collect(4, alive, out, done));
    EXPECT_GT(alive, 0);
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(alive, 0);
    EXPECT_FALSE(done);
}

task<> abandon(int& alive, int& got) {
    auto numbers = count_to(10, rig::tracked(alive));
    std::unique_ptr<int>* item = co_await numbers.next();
    got = **item;
}

TEST(generator, JOB_49_abandoning_it_half_way_destroys_its_locals) {
    rig::stage s;
    int alive = 0;
    int got = 0;
    s.play(abandon(alive, got));
    EXPECT_EQ(got, 1);
    EXPECT_EQ(alive, 0);
}

generator<int> fail_after_two(rig::tracked) {
    co_yield 1;
    co_yield 2;
    throw std::runtime_error("no more");
}
task<> see_failure(int& alive, int& sum, std::string& what) {
    auto numbers = fail_after_two(rig::tracked(alive));
    try {
        for (;;) {
            int* item = co_await numbers.next();
            if (item == nullptr) {
                break;
            }
            sum += *item;
        }
    } catch (const std::runtime_error& e) {
        what = e.what();
    }
    int* again = co_await numbers.next();
    EXPECT_EQ(again, nullptr) << "it fails once";
}

TEST(generator, JOB_48_throws_what_it_throws_once) {
    rig::stage s;
    int alive = 0;
    int sum = 0;
    std::string what;
    s.play(see_failure(alive, sum, what));
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(what, "no more");
    EXPECT_EQ(alive, 0);
}

task<> ask_once(generator<std::unique_ptr<int>>& of, int& sum) {
    std::unique_ptr<int>* item = co_await of.next();
    if (item != nullptr) {
        sum += **item;
    }
}
task<> ask_under_deadlines(int& alive, int& sum, bool& second, bool& third) {
    auto numbers = count_to(10, rig::tracked(alive));
    co_await fail_after(1h, ask_once(numbers, sum));
    second = co_await move_on_after(10us, ask_once(numbers, sum));
    third = co_await move_on_after(1h, ask_once(numbers, sum));
}

TEST(generator, JOB_49_a_deadline_of_the_asking_side_ends_it) {
    rig::stage s;
    int alive = 0;
    int sum = 0;
    bool second = true;
    bool third = false;
    const job j = s.play(ask_under_deadlines(alive, sum, second, third));
    s.advance(1ms);
    EXPECT_FALSE(second);
    EXPECT_TRUE(third) << "asking an ended generator gives null at once";
    EXPECT_EQ(sum, 1);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(j.state(), job_state::completed);
}

generator<int> endless() {
    for (int i = 0;; ++i) {
        co_yield i;
    }
}
task<> take_a_million(long& sum) {
    auto numbers = endless();
    for (int i = 0; i < 1000000; ++i) {
        int* item = co_await numbers.next();
        sum += *item;
    }
}

TEST(generator, JOB_48_a_million_values_use_constant_stack) {
    rig::stage s;
    long sum = 0;
    s.play(take_a_million(sum));
    EXPECT_EQ(sum, 999999L * 1000000L / 2);
}

}  // namespace
