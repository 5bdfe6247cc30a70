// Checkpoints and what a cancelled await does.
#include <roost/sync/event.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;

namespace {

class note_death {
public:
    note_death(std::vector<std::string>& log, std::string name) : log_(&log), name_(std::move(name)) {}
    note_death(note_death&& other) noexcept : log_(std::exchange(other.log_, nullptr)), name_(std::move(other.name_)) {}
    ~note_death() {
        if (log_ != nullptr) {
            log_->push_back(name_);
        }
    }

private:
    std::vector<std::string>* log_;
    std::string name_;
};

task<> innermost(event& e, std::vector<std::string>& log) {
    const note_death local(log, "innermost");
    co_await e.wait();
    log.emplace_back("resumed");
}
task<> middle(event& e, std::vector<std::string>& log) {
    const note_death local(log, "middle");
    try {
        co_await innermost(e, log);
    } catch (...) {
        log.emplace_back("caught");
    }
    log.emplace_back("went on");
}
task<> outermost(event& e, std::vector<std::string>& log, note_death) {
    const note_death local(log, "outermost");
    co_await middle(e, log);
}

TEST(this_task, TASK_10_a_cancelled_await_destroys_frames_innermost_first_and_runs_no_catch_block) {
    rig::stage s;
    event e;
    std::vector<std::string> log;
    const job j = s.play(outermost(e, log, note_death(log, "argument")));
    EXPECT_TRUE(log.empty());
    j.cancel();
    EXPECT_TRUE(log.empty()) << "cancel() destroys nothing itself";
    EXPECT_EQ(j.state(), job_state::cancelling);
    s.run();
    EXPECT_EQ(log, (std::vector<std::string>{"innermost", "middle", "outermost", "argument"}));
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().kind(), reason_kind::requested);
    EXPECT_EQ(e.waiters_now(), 0U);
}

task<> cancel_myself_then(event& ready, semaphore& permits, std::vector<std::string>& log) {
    const job me = co_await this_job();
    me.cancel();
    log.emplace_back("still here");
    const bool active = co_await is_active();
    log.emplace_back(active ? "active" : "not active");
    co_await ready.wait();
    log.emplace_back("passed a ready event");
    const auto permit = co_await permits.acquire();
}

TEST(this_task, TASK_9_in_a_cancelled_job_no_await_begins_not_even_a_ready_one) {
    rig::stage s;
    event ready("ready", true);
    semaphore permits(1);
    std::vector<std::string> log;
    const job j = s.play(cancel_myself_then(ready, permits, log));
    EXPECT_EQ(log, (std::vector<std::string>{"still here", "not active"}));
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> take_permit(semaphore& permits, std::vector<std::string>& log) {
    const job me = co_await this_job();
    me.cancel();
    auto permit = co_await permits.acquire();
    log.emplace_back("acquired");
}

TEST(this_task, TASK_9_the_ready_value_is_not_consumed) {
    rig::stage s;
    semaphore permits(1);
    std::vector<std::string> log;
    s.play(take_permit(permits, log));
    EXPECT_TRUE(log.empty());
    EXPECT_TRUE(permits.try_acquire());
}

task<> wait_twice(event& first, event& second, std::vector<std::string>& log) {
    co_await first.wait();
    log.emplace_back("first");
    co_await second.wait();
    log.emplace_back("second");
}

TEST(this_task, TASK_11_what_was_delivered_before_the_cancel_arrives_and_the_next_await_ends_the_job) {
    rig::stage s;
    event first;
    event second;
    std::vector<std::string> log;
    const job j = s.play(wait_twice(first, second, log));
    first.set();
    j.cancel();
    s.run();
    EXPECT_EQ(log, (std::vector<std::string>{"first"}));
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<int> finish_though_cancelled(bool fail) {
    const job me = co_await this_job();
    me.cancel();
    if (fail) {
        throw std::runtime_error("my own");
    }
    co_return 5;
}
task<> keep_value(int& got) { got = co_await finish_though_cancelled(false); }

TEST(this_task, TASK_12_a_value_or_error_returned_without_another_await_survives_cancellation) {
    rig::stage s;
    int got = 0;
    const job kept = s.play(keep_value(got));
    EXPECT_EQ(got, 5);
    EXPECT_EQ(kept.state(), job_state::completed);
    const auto silent = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    const job failed = s.play(finish_though_cancelled(true));
    set_failure_sink(silent);
    EXPECT_EQ(failed.state(), job_state::failed);
    EXPECT_THROW(std::rethrow_exception(failed.error()), std::runtime_error);
}

task<> checkpoints(std::vector<std::string>& log) {
    co_await checkpoint();
    const bool active = co_await is_active();
    log.emplace_back(active ? "active" : "not active");
    const job me = co_await this_job();
    me.cancel();
    co_await checkpoint();
    log.emplace_back("after");
}

TEST(this_task, TASK_16_checkpoint_passes_while_active_and_ends_the_job_once_cancelled) {
    rig::stage s;
    std::vector<std::string> log;
    const job j = s.play(checkpoints(log));
    EXPECT_EQ(log, (std::vector<std::string>{"active"}));
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> count_turns(int rounds, char name, std::string& log) {
    for (int i = 0; i < rounds; ++i) {
        log.push_back(name);
        co_await yield();
    }
}

TEST(this_task, TASK_17_yield_lets_the_others_run_first) {
    rig::stage s;
    std::string log;
    s.start(count_turns(3, 'a', log));
    s.start(count_turns(3, 'b', log));
    s.run();
    EXPECT_EQ(log, "ababab");
}

TEST(this_task, TASK_17_a_job_cancelled_while_it_yields_does_not_come_back) {
    rig::stage s;
    std::string log;
    const job j = s.start(count_turns(3, 'a', log));
    EXPECT_TRUE(s.executor.run_one());
    j.cancel();
    s.run();
    EXPECT_EQ(log, "a");
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> never_runs(rig::tracked, bool& ran) {
    ran = true;
    co_return;
}

TEST(this_task, TASK_31_cancelled_between_start_and_first_run_the_body_never_runs) {
    rig::stage s;
    int alive = 0;
    bool ran = false;
    const job j = s.start(never_runs(rig::tracked(alive), ran));
    EXPECT_EQ(alive, 1);
    j.cancel();
    EXPECT_EQ(alive, 1) << "its frame belongs to the executor";
    s.run();
    EXPECT_EQ(alive, 0);
    EXPECT_FALSE(ran);
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> observe(token& seen) {
    seen = co_await this_token();
    co_await yield();
}

TEST(this_task, TASK_16_this_token_observes_without_keeping_the_job) {
    rig::stage s;
    token seen;
    const job j = s.start(observe(seen));
    EXPECT_TRUE(s.executor.run_one());
    EXPECT_FALSE(seen.cancel_requested());
    j.cancel();
    EXPECT_TRUE(seen.is_cancelled());
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
}

}  // namespace
