#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

class local {
public:
    explicit local(std::string& log) : log_(&log) {}
    ~local() { *log_ += "local "; }

private:
    std::string* log_;
};

task<> action(std::string& log, const char* text) {
    log += text;
    co_await yield();
    log += "/";
    log += text;
    log += " ";
}

enum class end { value, error, cancel };

task<int> with_cleanup(std::string& log, end how, event& never) {
    const local here(log);
    co_await on_exit(action, std::ref(log), "first");
    co_await on_exit(action, std::ref(log), "second");
    if (how == end::error) {
        throw std::runtime_error("failed");
    }
    if (how == end::cancel) {
        co_await never.wait();
    }
    co_return 8;
}
task<> parent(std::string& log, end how, event& never) {
    auto got = co_await as_outcome(with_cleanup(log, how, never));
    log += got.has_value() ? "value" : "error";
}

TEST(on_exit, TASK_27_actions_run_last_first_after_the_locals_and_before_the_parent_goes_on) {
    for (const end how : {end::value, end::error}) {
        rig::stage s;
        event never;
        std::string log;
        s.play(parent(log, how, never));
        EXPECT_EQ(log, std::string("local second/second first/first ") + (how == end::value ? "value" : "error"));
    }
}

TEST(on_exit, TASK_27_and_when_the_job_is_cancelled) {
    rig::stage s;
    event never;
    std::string log;
    const job j = s.play(parent(log, end::cancel, never));
    j.cancel();
    s.run();
    EXPECT_EQ(log, "local second/second first/first ");
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<int> root_body(std::string& log, event& never) {
    co_await on_exit(action, std::ref(log), "root");
    co_await never.wait();
    co_return 1;
}

TEST(on_exit, TASK_27_at_the_root_of_a_job_the_job_ends_after_its_actions) {
    rig::stage s;
    event never;
    std::string log;
    const job j = s.play(root_body(log, never));
    j.cancel();
    EXPECT_TRUE(s.executor.run_one());
    EXPECT_EQ(log, "root");
    EXPECT_FALSE(j.is_finished());
    s.run();
    EXPECT_EQ(log, "root/root ");
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> bad_action() {
    co_await yield();
    throw std::logic_error("cleanup");
}
task<int> body_with_bad_action(bool fail) {
    co_await on_exit(bad_action);
    if (fail) {
        throw std::runtime_error("body");
    }
    co_return 2;
}
task<> see_both(std::string& first, std::string& other) {
    auto got = co_await as_outcome(body_with_bad_action(true));
    first = describe(got.error());
    if (!got.others().empty()) {
        other = describe(got.others().front());
    }
}

TEST(on_exit, TASK_28_what_an_action_throws_is_kept_beside_the_outcome) {
    rig::stage s;
    std::string first;
    std::string other;
    s.play(see_both(first, other));
    EXPECT_EQ(first, "std::runtime_error: body");
    EXPECT_EQ(other, "std::logic_error: cleanup");
}

int sunk = 0;

TEST(on_exit, TASK_28_even_when_the_body_succeeded) {
    sunk = 0;
    const auto before =
        set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept { ++sunk; });
    {
        rig::stage s;
        const job j = s.play(body_with_bad_action(false));
        EXPECT_EQ(j.state(), job_state::completed);
        EXPECT_EQ(j.others().size(), 1U);
        EXPECT_EQ(sunk, 1) << "never silent";
    }
    set_failure_sink(before);
}

task<> stuck_action(event& never) { co_await never.wait(); }
task<> body_with_stuck_action(event& never) {
    co_await on_exit(stuck_action, std::ref(never)).within(3s);
    co_await never.wait();
}

TEST(on_exit, TASK_28_an_action_that_outlasts_its_budget_is_cancelled_with_the_job) {
    rig::stage s;
    event never;
    const job j = s.play(body_with_stuck_action(never));
    j.cancel();
    s.run();
    EXPECT_EQ(never.waiters_now(), 1U);
    s.advance(3s);
    EXPECT_EQ(j.state(), job_state::cancelled);
}

}  // namespace
