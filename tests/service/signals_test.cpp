#include <roost/service/signals.hpp>

#include "child_process.hpp"

#include <gtest/gtest.h>

namespace roost::service {
namespace {

TEST(signals, SVC_1_the_first_one_drains_and_ends_clean) {
    for (const int signal : {SIGTERM, SIGINT}) {
        child_process c("clean");
        ASSERT_TRUE(c.wait_for("'scenario' is ready"));
        c.send(signal);
        EXPECT_TRUE(ended_with(c.wait(), 0)) << c.output();
        EXPECT_EQ(c.last_line(), "ledger: accepted=0 completed=0 failed=0 cancelled=0 abandoned=0 lost=0");
    }
}

TEST(signals, SVC_8_the_sender_is_named) {
    child_process c("clean");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    EXPECT_TRUE(c.wait_for("SIGTERM from pid " + std::to_string(::getpid()) + ": shutting down"));
    EXPECT_TRUE(ended_with(c.wait(), 0));
}

TEST(signals, SVC_2_the_second_one_cancels) {
    child_process c("stuck");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("1 job 'planted' ("));
    c.send(SIGINT);
    EXPECT_TRUE(ended_with(c.wait(), 128 + SIGINT)) << c.output();
    EXPECT_TRUE(c.has_said("phase cancel"));
    EXPECT_TRUE(c.has_said("phase release"));
}

TEST(signals, SVC_3_the_third_one_prints_the_tree_and_kills_also_when_every_worker_is_stuck) {
    child_process c("wedged");
    ASSERT_TRUE(c.wait_for("wedged now"));
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("1 job 'main' ("));
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("phase cancel"));
    c.send(SIGINT);
    EXPECT_TRUE(died_of(c.wait(), SIGINT)) << c.output();
    EXPECT_TRUE(c.has_said("what is left of 'scenario'"));
    EXPECT_TRUE(c.has_said("job 'main'"));
    EXPECT_EQ(c.last_line(), "ledger: accepted=1 completed=0 failed=0 cancelled=0 abandoned=1 lost=0");
}

// The kernel does not let process 1 die of a signal that it sends itself.
TEST(signals, SVC_3_process_1_exits_with_128_and_the_signal) {
    child_process c("wedged", {}, child_process::place::process_1);
    if (!c.has_started()) {
        GTEST_SKIP() << "this system does not let us make a process 1";
    }
    ASSERT_TRUE(c.wait_for("wedged now"));
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("1 job 'main' ("));
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("phase cancel"));
    c.send(SIGINT);
    EXPECT_TRUE(ended_with(c.wait(), 128 + SIGINT)) << c.output();
    EXPECT_EQ(c.last_line(), "ledger: accepted=1 completed=0 failed=0 cancelled=0 abandoned=1 lost=0");
}

TEST(signals, SVC_4_the_hard_deadline_kills_by_the_signal_that_asked) {
    child_process c("wedged, hasty");
    ASSERT_TRUE(c.wait_for("wedged now"));
    c.send(SIGTERM);
    EXPECT_TRUE(died_of(c.wait(), SIGTERM)) << c.output();
    EXPECT_TRUE(c.has_said("what is left of 'scenario'"));
    EXPECT_TRUE(c.has_said("abandoned=1 lost=0"));
}

TEST(signals, SVC_4_without_a_signal_the_hard_deadline_exits_with_124) {
    child_process c("own request");
    EXPECT_TRUE(ended_with(c.wait(), 124)) << c.output();
    EXPECT_TRUE(c.has_said("enough: shutting down"));
    EXPECT_TRUE(c.has_said("what is left of 'scenario'"));
}

TEST(signals, SVC_5_sigusr1_prints_the_tree_in_any_phase_and_stops_nothing) {
    child_process c("stuck");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGUSR1);
    ASSERT_TRUE(c.wait_for("the tree of 'scenario', phase running"));
    ASSERT_TRUE(c.wait_for("job 'planted'"));
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("phase drain"));
    c.send(SIGUSR1);
    ASSERT_TRUE(c.wait_for("the tree of 'scenario', phase drain"));
    ASSERT_TRUE(c.wait_for("job 'planted'"));
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 128 + SIGTERM)) << c.output();
}

TEST(signals, SVC_6_sighup_runs_the_hook_and_a_failing_hook_is_only_logged) {
    child_process c("reloads");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGHUP);
    ASSERT_TRUE(c.wait_for("reloading, number 1"));
    ASSERT_TRUE(c.wait_for("reload done"));
    c.send(SIGHUP);
    ASSERT_TRUE(c.wait_for("bad file"));
    ASSERT_TRUE(c.wait_for("reload failed"));
    c.send(SIGHUP);
    ASSERT_TRUE(c.wait_for("reloading, number 3"));
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 0)) << c.output();
}

TEST(signals, SVC_6_without_a_hook_sighup_asks_for_the_end_and_during_shutdown_it_does_nothing) {
    child_process c("stuck");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGHUP);
    ASSERT_TRUE(c.wait_for("phase drain"));
    c.send(SIGHUP);
    ASSERT_TRUE(c.wait_for("no reload during shutdown"));
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 128 + SIGTERM)) << c.output();
}

TEST(signals, SVC_7_what_comes_before_the_start_is_remembered) {
    child_process once("early");
    EXPECT_TRUE(ended_with(once.wait(), 0)) << once.output();
    EXPECT_TRUE(once.has_said("SIGTERM from pid"));
    EXPECT_TRUE(once.has_said("the body runs"));
    EXPECT_TRUE(once.has_said("and was told to stop"));
    child_process two("early twice");
    EXPECT_TRUE(ended_with(two.wait(), 128 + SIGINT)) << two.output();
    EXPECT_FALSE(two.has_said("and was told to stop"));
}

TEST(signals, SVC_9_a_storm_of_dumps_and_reloads_holds_up_nothing) {
    child_process c("reloads");
    ASSERT_TRUE(c.wait_for("is ready"));
    for (int i = 0; i < 3000; ++i) {
        c.send(i % 2 == 0 ? SIGUSR1 : SIGHUP);
    }
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 0));
    EXPECT_TRUE(c.has_said("the tree of 'scenario'"));
    EXPECT_TRUE(c.has_said("SIGTERM from pid"));
}

TEST(signals, SVC_9_a_storm_of_everything_ends_in_one_forced_end) {
    child_process c("wedged");
    ASSERT_TRUE(c.wait_for("wedged now"));
    c.storm({SIGTERM, SIGUSR1, SIGINT, SIGHUP});
    const int status = c.wait();
    EXPECT_TRUE(died_of(status, SIGTERM) || died_of(status, SIGINT)) << c.output();
    const std::size_t first = c.output().find("what is left of");
    ASSERT_NE(first, std::string::npos) << c.output();
    EXPECT_EQ(c.output().find("what is left of", first + 1), std::string::npos);
    EXPECT_EQ(c.last_line(), "ledger: accepted=1 completed=0 failed=0 cancelled=0 abandoned=1 lost=0");
}

TEST(signals, SVC_12_programs_that_a_worker_starts_have_the_usual_signals) {
    child_process c("starts programs");
    EXPECT_TRUE(ended_with(c.wait(), 0)) << c.output();
}

TEST(signals, SVC_13_a_second_service_in_the_same_process_begins_afresh) {
    child_process c("twice");
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    ASSERT_TRUE(c.wait_for("ledger:"));
    ASSERT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    EXPECT_TRUE(ended_with(c.wait(), 0)) << c.output();
}

}  // namespace
}  // namespace roost::service
