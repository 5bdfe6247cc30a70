#include <roost/sync/event.hpp>
#include <roost/task/on.hpp>
#include <roost/task/this_task.hpp>

#include "further.hpp"
#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace roost;

namespace {

task<int> elsewhere(roost::testing::manual_executor& there, bool& was_there, event* wait, bool fail) {
    was_there = there.is_here();
    if (wait != nullptr) {
        co_await wait->wait();
    }
    if (fail) {
        throw std::runtime_error("there");
    }
    co_return 6;
}
task<> hop(roost::testing::manual_executor& there, rig::manual& home, bool& was_there, int& got, event* wait, bool fail,
           std::string& log) {
    try {
        got = co_await on(there, elsewhere(there, was_there, wait, fail));
    } catch (const std::runtime_error&) {
        log += "error ";
    }
    log += home.is_here() ? "home" : "lost";
}

TEST(on, TASK_40_runs_there_and_comes_back_with_value_or_error) {
    for (const bool fail : {false, true}) {
        roost::testing::manual_executor there("there");
        rig::stage s;
        bool was_there = false;
        int got = 0;
        std::string log;
        s.play(hop(there, s.executor, was_there, got, nullptr, fail, log));
        EXPECT_EQ(log, "");
        there.run_all();
        EXPECT_TRUE(was_there);
        EXPECT_EQ(log, "") << "it does not go on over there";
        s.run();
        EXPECT_EQ(log, fail ? "error home" : "home");
        EXPECT_EQ(got, fail ? 0 : 6);
    }
}

TEST(on, TASK_40_a_cancel_is_passed_on_and_the_child_is_awaited) {
    roost::testing::manual_executor there("there");
    rig::stage s;
    event never;
    bool was_there = false;
    int got = 0;
    std::string log;
    const job j = s.play(hop(there, s.executor, was_there, got, &never, false, log));
    there.run_all();
    j.cancel();
    s.run();
    EXPECT_FALSE(j.is_finished()) << "its child unwinds on its own executor";
    there.run_all();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(log, "");
}

TEST(on, TASK_40_coming_back_is_no_checkpoint) {
    roost::testing::manual_executor there("there");
    rig::stage s;
    bool was_there = false;
    int got = 0;
    std::string log;
    const job j = s.play(hop(there, s.executor, was_there, got, nullptr, false, log));
    there.run_all();
    j.cancel();
    s.run();
    EXPECT_EQ(got, 6);
    EXPECT_EQ(j.state(), job_state::completed);
}

// The child's error came first; a cancel that arrives before the way back does not replace it.
TEST(on, TASK_40_an_error_from_there_survives_a_concurrent_cancel) {
    roost::testing::manual_executor there("there");
    rig::stage s;
    bool was_there = false;
    int got = 0;
    std::string log;
    const job j = s.play(hop(there, s.executor, was_there, got, nullptr, true, log));
    there.run_all();
    j.cancel();
    s.run();
    EXPECT_EQ(log, "error home");
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> wait_there(roost::testing::manual_executor& there, event& never) {
    co_await on(there, further::wait_with(never, "cleanup there"));
}

TEST(on, JOB_86_what_failed_beside_a_cancelled_child_is_kept) {
    further::listener sink;
    roost::testing::manual_executor there("there");
    rig::stage s;
    event never;
    const job j = s.play(wait_there(there, never));
    there.run_all();
    j.cancel();
    s.run();
    there.run_all();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(further::texts_of(j.others()), further::texts{"cleanup there"});
    EXPECT_EQ(sink.take(), further::texts{"cleanup there"});
}

}  // namespace
