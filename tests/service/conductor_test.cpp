#include <roost/service/detail/conductor.hpp>

#include "child_process.hpp"
#include "fake_manager.hpp"

#include <gtest/gtest.h>

// What the conductor says and does beside signals: reports, deadlines, the service manager.

namespace roost::service {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        ++n;
    }
    return n;
}

TEST(conductor, SVC_50_holders_are_named_again_and_again_with_place_age_and_what_they_wait_on) {
    child_process c("stuck");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(c.wait_for("roost:   1 job 'planted' ("));
        ASSERT_TRUE(c.wait_for("scenarios_test.cpp:"));
        ASSERT_TRUE(c.wait_for(", age "));
        ASSERT_TRUE(c.wait_for("waits on event 'never'"));
    }
    EXPECT_TRUE(c.has_said("1 outstanding, no progress"));
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 128 + SIGTERM)) << c.output();
}

TEST(conductor, RUN_161_what_blocks_in_the_lane_is_named_in_reports_and_at_the_end) {
    child_process c("stuck in the lane");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(c.wait_for("roost:   blocking function of 'reader' ("));
        ASSERT_TRUE(c.wait_for("), running for "));
    }
    EXPECT_TRUE(c.has_said("waits on blocking function"));
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("phase cancel"));  // two signals at once may arrive as one
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("what is left of"));
    ASSERT_TRUE(c.wait_for("roost:   blocking function of 'reader' ("));
    static_cast<void>(c.wait());
}

TEST(conductor, SVC_50_equal_holders_are_one_line_and_the_oldest_comes_first) {
    child_process c("many holders");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("phase drain for another"));
    ASSERT_TRUE(c.wait_for("roost:   1 job 'eldest'"));
    ASSERT_TRUE(c.wait_for("roost:   40 jobs 'crowd'"));
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 128 + SIGTERM)) << c.output();
}

TEST(conductor, SVC_24_when_the_drain_budget_is_spent_work_is_cancelled_and_the_exit_code_is_124) {
    child_process c("drain deadline");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 124)) << c.output();
    EXPECT_TRUE(c.has_said("phase cancel"));
    EXPECT_TRUE(c.has_said("phase release"));
    EXPECT_EQ(c.last_line(), "ledger: accepted=0 completed=0 failed=0 cancelled=0 abandoned=0 lost=0");
}

TEST(conductor, SVC_25_abort_pierces_shields) {
    child_process c("shielded");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 124)) << c.output();
    EXPECT_TRUE(c.has_said("phase abort"));
    EXPECT_TRUE(c.has_said("phase release"));
}

TEST(conductor, SVC_26_resources_that_do_not_end_are_cancelled_when_their_budget_is_spent) {
    child_process c("stuck release");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 124)) << c.output();
    EXPECT_TRUE(c.has_said("1 job 'stop hook'"));
}

TEST(conductor, SVC_30_bad_budgets_are_one_sentence_and_nothing_is_started) {
    child_process sum("clean", {{"ROOST_SHUTDOWN_TOTAL", "10s"}, {"ROOST_SHUTDOWN_DRAIN", "20s"}});
    EXPECT_TRUE(ended_with(sum.wait(), 2));
    EXPECT_EQ(count(sum.output(), "\n"), 1U) << sum.output();
    EXPECT_TRUE(sum.has_said("roost: scenario was not started: the budgets of shutdown ("));
    child_process word("clean", {{"ROOST_SHUTDOWN_DRAIN", "soon"}});
    EXPECT_TRUE(ended_with(word.wait(), 2));
    EXPECT_EQ(word.output().substr(word.output().find("roost: ")),
              "roost: scenario was not started: ROOST_SHUTDOWN_DRAIN is 'soon', which is not a duration such as "
              "15s, 500ms or 2m\n");
}

TEST(conductor, SVC_31_the_environment_changes_the_phases_of_a_running_program) {
    child_process c("stuck", {{"ROOST_SHUTDOWN_DRAIN", "0"}});
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 124)) << c.output();
    EXPECT_TRUE(c.has_said("phase drain, at most 0 ms"));
}

TEST(conductor, SVC_73_lost_work_is_a_broken_invariant) {
    child_process c("lost work");
    EXPECT_TRUE(ended_with(c.wait(), 70)) << c.output();
    EXPECT_EQ(c.last_line(), "ledger: accepted=1 completed=0 failed=0 cancelled=0 abandoned=0 lost=1");
}

TEST(conductor, SVC_74_a_panic_in_the_sink_is_said_on_the_standard_error_stream) {
    child_process c("broken sink");
    EXPECT_TRUE(ended_with(c.wait(), 70));
    EXPECT_TRUE(c.has_said("the sink broke a rule"));
}

TEST(conductor, SVC_74_a_panic_is_said_and_exits_with_70) {
    child_process c("broken");
    EXPECT_TRUE(ended_with(c.wait(), 70)) << c.output();
    EXPECT_TRUE(c.has_said("a rule was broken"));
    EXPECT_EQ(c.last_line(), "ledger: accepted=1 completed=0 failed=0 cancelled=0 abandoned=1 lost=0");
}

// --- the service manager ------------------------------------------------------------------------------------------------------

TEST(conductor, SVC_51_the_service_manager_hears_ready_stopping_and_status) {
    fake_manager manager;
    child_process c("stuck", {{"NOTIFY_SOCKET", manager.address()}});
    EXPECT_EQ(manager.receive_until("READY=1"), "READY=1\nSTATUS=ready\n");
    c.send(SIGTERM);
    const std::string begin = manager.receive_until("STOPPING=1");
    EXPECT_NE(begin.find("STATUS=shutting down: SIGTERM from pid"), std::string::npos) << begin;
    const std::string later = manager.receive_until("STATUS=drain, 1 outstanding, oldest job 'planted'");
    EXPECT_NE(later.find(" left"), std::string::npos) << later;
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 128 + SIGTERM)) << c.output();
}

TEST(conductor, SVC_52_more_time_is_asked_for_only_while_there_is_progress) {
    fake_manager manager;
    child_process c("slow queue", {{"NOTIFY_SOCKET", manager.address()}});
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for(" at most, 11 outstanding"));
    c.send(SIGUSR1);
    // As long as the queue gets shorter, and not once only its last job is left.
    EXPECT_NE(manager.receive_until("EXTEND_TIMEOUT_USEC=").find("EXTEND_TIMEOUT_USEC="), std::string::npos);
    ASSERT_TRUE(c.wait_for(" at most, 1 outstanding, no progress"));
    ASSERT_TRUE(c.wait_for(" at most, 1 outstanding, no progress"));
    static_cast<void>(manager.receive_rest());
    std::string stuck;  // of two reports that come from now on: lines may have been waiting in the pipe
    for (int i = 0; i < 2; ++i) {
        stuck += manager.receive_until("STATUS=drain, 1 outstanding");
    }
    EXPECT_NE(stuck.find("STATUS=drain, 1 outstanding"), std::string::npos) << stuck;
    EXPECT_EQ(stuck.find("EXTEND_TIMEOUT_USEC"), std::string::npos) << stuck;
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 128 + SIGTERM)) << c.output();
}

TEST(conductor, SVC_53_the_watchdog_is_fed_while_the_executor_runs_and_not_when_it_is_stuck) {
    fake_manager manager;
    const child_process::variables watched = {{"NOTIFY_SOCKET", manager.address()}, {"WATCHDOG_USEC", "20000"}};
    {
        child_process c("clean", watched);
        EXPECT_NE(manager.receive_until("WATCHDOG=1").find("WATCHDOG=1"), std::string::npos);
        EXPECT_NE(manager.receive_until("WATCHDOG=1").find("WATCHDOG=1"), std::string::npos);
        c.send(SIGTERM);
        EXPECT_TRUE(ended_with(c.wait(), 0)) << c.output();
        static_cast<void>(manager.receive_rest());
    }
    child_process c("wedged", watched);
    ASSERT_TRUE(c.wait_for("not live: the executor has run nothing for 1 s"));
    static_cast<void>(manager.receive_rest());
    c.send(SIGUSR1);
    ASSERT_TRUE(c.wait_for("the tree of"));
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("phase drain for another"));
    ASSERT_TRUE(c.wait_for("phase drain for another"));
    EXPECT_EQ(manager.receive_rest().find("WATCHDOG=1"), std::string::npos);
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("phase cancel"));
    c.send(SIGTERM);
    EXPECT_TRUE(died_of(c.wait(), SIGTERM)) << c.output();
}

TEST(conductor, SVC_51_a_reload_is_told_and_ready_again_afterwards) {
    fake_manager manager;
    child_process c("reloads", {{"NOTIFY_SOCKET", manager.address()}});
    static_cast<void>(manager.receive_until("READY=1"));
    c.send(SIGHUP);
    const std::string told = manager.receive_until("READY=1");
    EXPECT_NE(told.find("RELOADING=1\nMONOTONIC_USEC="), std::string::npos) << told;
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 0)) << c.output();
}

TEST(conductor, SVC_51_ready_is_not_told_before_the_reload_is_done) {
    fake_manager manager;
    child_process c("slow reload", {{"NOTIFY_SOCKET", manager.address()}});
    static_cast<void>(manager.receive_until("READY=1"));
    c.send(SIGHUP);
    ASSERT_TRUE(c.wait_for("the hook begins"));
    c.send(SIGUSR1);
    ASSERT_TRUE(c.wait_for("the tree of 'scenario'"));  // so the look that saw SIGHUP is over
    const std::string meanwhile = manager.receive_rest();
    EXPECT_NE(meanwhile.find("RELOADING=1"), std::string::npos) << meanwhile;
    EXPECT_EQ(meanwhile.find("READY=1"), std::string::npos) << meanwhile;
    c.send(SIGUSR1);
    ASSERT_TRUE(c.wait_for("the hook ends"));
    EXPECT_EQ(manager.receive_until("READY=1"), "READY=1\nSTATUS=ready\n");
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 0)) << c.output();
}

TEST(conductor, SVC_54_a_service_manager_that_is_gone_has_no_effect) {
    child_process c("clean", {{"NOTIFY_SOCKET", "@nobody-listens-here"}, {"WATCHDOG_USEC", "20000"}});
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 0)) << c.output();
}

}  // namespace
}  // namespace roost::service
