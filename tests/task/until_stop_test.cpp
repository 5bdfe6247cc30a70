#include <roost/sync/event.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/until_stop.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace roost;

namespace {

task<int> wait_for(event& e, int& alive) {
    const rig::tracked here(alive);
    co_await e.wait();
    co_return 5;
}
task<> fail_on(event& e) {
    co_await e.wait();
    throw std::runtime_error("broken");
}
task<int&> refer_to(int& x) { co_return x; }

task<> watch_it(token watched, event& e, int& alive, std::string& log) {
    const std::optional<int> got = co_await until_stop(watched, wait_for(e, alive));
    EXPECT_EQ(alive, 0) << "the task has ended before the body goes on";
    log += got ? "value " + std::to_string(*got) : "stopped";
}

class until_stop_test : public ::testing::Test {
protected:
    rig::stage stage;
    event go;
    int alive = 0;
    std::string log;
    // A node beside the job, which is asked to stop: the scope of something else.
    owned_scope other{stage.executor, scope_options("other").report_failures()};
    token watched = other.observe();
    void stop() const { other.tree_node().stop(reason::plain_kind(reason_kind::shutdown)); }
    ~until_stop_test() override { other.request_close(); }
};

TEST_F(until_stop_test, SHUT_76_a_value_that_is_there_first_wins) {
    stage.start(watch_it(watched, go, alive, log));
    stage.run();
    go.set();
    stop();
    stage.run();
    EXPECT_EQ(log, "value 5");
}

TEST_F(until_stop_test, SHUT_76_stop_cancels_the_task_and_waits_for_its_end) {
    const job j = stage.play(watch_it(watched, go, alive, log));
    EXPECT_EQ(alive, 1);
    stop();
    EXPECT_EQ(log, "") << "nothing resumes inside the call that stops";
    stage.run();
    EXPECT_EQ(log, "stopped");
    EXPECT_EQ(j.state(), job_state::completed);
}

TEST_F(until_stop_test, SHUT_76_a_stop_that_is_visible_keeps_the_task_from_beginning) {
    stop();
    go.set();
    stage.play(watch_it(watched, go, alive, log));
    EXPECT_EQ(log, "stopped");
}

TEST_F(until_stop_test, SHUT_76_a_cancelled_outer_job_does_not_go_on) {
    job j = stage.play(watch_it(watched, go, alive, log));
    j.cancel();
    stop();
    stage.run();
    EXPECT_EQ(log, "");
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> expect_failure(token watched, event& e, std::string& log) {
    try {
        co_await until_stop(watched, fail_on(e));
    } catch (const std::runtime_error& error) {
        log += error.what();
    }
}

TEST_F(until_stop_test, SHUT_76_an_error_that_is_there_first_wins) {
    stage.play(expect_failure(watched, go, log));
    go.set();
    stop();
    stage.run();
    EXPECT_EQ(log, "broken");
}

task<> take_reference(token watched, int& x) {
    auto got = co_await until_stop(watched, refer_to(x));
    if (got) {
        got->get() = 7;
    }
}

TEST_F(until_stop_test, SHUT_76_a_reference_arrives_as_one) {
    int x = 0;
    stage.play(take_reference(watched, x));
    EXPECT_EQ(x, 7);
}

task<> sleep_until_stop(token watched, std::string& log) {
    const auto slept = co_await until_stop(watched, sleep_for(std::chrono::seconds(1)));
    log += slept ? "slept " : "stopped";
}

TEST_F(until_stop_test, SHUT_76_what_only_a_task_can_await_is_interrupted_as_well) {
    stage.play(sleep_until_stop(watched, log));
    stage.advance(std::chrono::seconds(1));
    EXPECT_EQ(log, "slept ");
    stage.play(sleep_until_stop(watched, log));
    stop();
    stage.run();
    EXPECT_EQ(log, "slept stopped");
}

}  // namespace
