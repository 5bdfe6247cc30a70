#include <roost/service/detail/last_resort.hpp>

#include <roost/observe/recording.hpp>

#include "child_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

// Processes whose sink never returns, at one line or another.

namespace roost::service {
namespace {

// Whether a signal that was sent to the process waits for one of its threads to take it.
bool is_pending(const child_process& c, int signal) {
    std::ifstream status("/proc/" + std::to_string(c.pid()) + "/status");
    for (std::string word; status >> word;) {
        if (word == "State:" && status >> word && word == "Z") {
            return false;  // it has ended
        }
        if (word == "ShdPnd:" && status >> word) {
            return (std::stoull(word, nullptr, 16) >> static_cast<unsigned>(signal - 1) & 1U) != 0;
        }
    }
    return false;
}

// Nothing that could be waited for comes out of a blocked sink.
void send_apart(const child_process& c, const std::vector<int>& signals) {
    for (const int n : signals) {
        ::usleep(200'000);
        c.send(n);
        const auto hangs = std::chrono::steady_clock::now() + hang_limit;
        while (is_pending(c, n) && std::chrono::steady_clock::now() < hangs) {
            ::usleep(1000);  // the kernel would fold it and the next one together
        }
    }
}

TEST(last_resort, SVC_11_a_sink_that_blocks_holds_up_neither_deadline_nor_third_signal) {
    child_process deadline("blocked sink");
    child_process signals("blocked sink", {{"ROOST_SHUTDOWN_TOTAL", "6h"}});
    ASSERT_TRUE(deadline.wait_for("is ready"));
    deadline.send(SIGTERM);
    ASSERT_TRUE(signals.wait_for("is ready"));
    send_apart(signals, {SIGTERM, SIGINT, SIGTERM});
    EXPECT_TRUE(died_of(deadline.wait(), SIGTERM));
    const int status = signals.wait();
    EXPECT_TRUE(died_of(status, SIGTERM) || died_of(status, SIGINT));
}

// Returns what a service recorded that ended at its hard deadline.
observe::recording recorded_by(const char* scenario) {
    const std::string path = ::testing::TempDir() + "roost_" + std::to_string(::getpid()) + "_deadline";
    child_process c(scenario, {{"ROOST_TEST_RECORDING", path}});
    EXPECT_TRUE(c.wait_for("is ready"));
    c.send(SIGTERM);
    EXPECT_TRUE(died_of(c.wait(), SIGTERM)) << c.output();
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    ::unlink(path.c_str());
    return observe::read_recording(bytes);
}

TEST(last_resort, OBS_188_the_hard_deadline_writes_the_prepared_recording) {
    for (const char* scenario : {"blocked sink", "wedged, hasty"}) {
        const observe::recording r = recorded_by(scenario);
        EXPECT_EQ(r.problem(), "") << scenario;
        const auto created = std::find_if(r.events().begin(), r.events().end(), [](const observe::recorded_event& e) {
            return e.kind() == observe::recorded_kind::job_created;
        });
        EXPECT_NE(created, r.events().end()) << scenario;
    }
}

TEST(last_resort, SVC_11_one_signal_is_enough_when_the_sink_never_returned_from_its_first_line) {
    child_process c("blocked from the start");
    ASSERT_TRUE(c.wait_for("the sink blocks"));
    c.send(SIGTERM);
    EXPECT_TRUE(died_of(c.wait(), SIGTERM));
}

TEST(last_resort, SVC_106_a_standard_error_stream_that_is_not_read_costs_lines_only) {
    child_process c("full pipe");
    ASSERT_TRUE(c.wait_for("serving"));
    c.send(SIGINT);
    EXPECT_TRUE(ended_with(c.wait(), 0));
}

TEST(last_resort, SVC_11_a_hangup_without_a_hook_is_one_of_the_three) {
    child_process deadline("blocked sink");
    child_process c("blocked sink", {{"ROOST_SHUTDOWN_TOTAL", "6h"}});
    ASSERT_TRUE(deadline.wait_for("is ready"));
    deadline.send(SIGHUP);
    ASSERT_TRUE(c.wait_for("is ready"));
    send_apart(c, {SIGHUP, SIGTERM, SIGTERM});
    EXPECT_TRUE(died_of(deadline.wait(), SIGHUP));
    EXPECT_TRUE(died_of(c.wait(), SIGTERM));
}

TEST(last_resort, SVC_11_the_last_line_is_no_exception) {
    child_process deadline("blocked ledger",
                           {{"ROOST_SHUTDOWN_TOTAL", "3s"}});  // enough for an end that is clean until then
    child_process signals("blocked ledger", {{"ROOST_SHUTDOWN_TOTAL", "6h"}});
    ASSERT_TRUE(deadline.wait_for("is ready"));
    deadline.send(SIGTERM);
    ASSERT_TRUE(deadline.wait_for("ends with 0"));
    ASSERT_TRUE(signals.wait_for("is ready"));
    signals.send(SIGTERM);
    ASSERT_TRUE(signals.wait_for("ends with 0"));
    send_apart(signals, {SIGTERM, SIGTERM});
    EXPECT_TRUE(died_of(deadline.wait(), SIGTERM));
    EXPECT_TRUE(died_of(signals.wait(), SIGTERM));
}

TEST(last_resort, SVC_11_nor_is_the_first_one) {
    child_process deadline("blocked early");
    child_process signals("blocked early", {{"ROOST_SHUTDOWN_TOTAL", "6h"}});
    ASSERT_TRUE(signals.wait_for("remembering"));
    send_apart(signals, {SIGTERM, SIGTERM});
    EXPECT_TRUE(died_of(deadline.wait(), SIGTERM));
    EXPECT_TRUE(died_of(signals.wait(), SIGTERM));
}

TEST(last_resort, SVC_11_a_service_that_is_refused_takes_no_signals) {
    child_process c("blocked refusal");
    ASSERT_TRUE(c.wait_for("the sink blocks"));
    send_apart(c, {SIGTERM, SIGTERM, SIGTERM});
    EXPECT_TRUE(died_of(c.wait(), SIGTERM));
}

}  // namespace
}  // namespace roost::service
