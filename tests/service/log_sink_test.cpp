#include <roost/service/log_sink.hpp>

#include <gtest/gtest.h>

#include <string>

namespace roost::service {
using namespace ext;

namespace {

TEST(log_sink, SVC_80_the_default_writes_the_line_and_its_end_to_stderr) {
    ::testing::internal::CaptureStderr();
    const wall_time at = std::chrono::sys_days(std::chrono::year(2026) / 11 / 17) + std::chrono::milliseconds(1);
    log_to_stderr(log_line(severity::info, "one line", at), nullptr);
    log_to_stderr(log_line(severity::error, "", at), nullptr);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "2026-11-17T00:00:00.001Z info one line\n2026-11-17T00:00:00.001Z error \n");
}

TEST(log_sink, SVC_104_a_line_has_its_time_and_its_severity) {
    const wall_time at = std::chrono::sys_days(std::chrono::year(2026) / 11 / 17) + std::chrono::hours(19);
    const log_line line(severity::warning, "roost: slow", at);
    EXPECT_EQ(line.time(), at);
    EXPECT_EQ(line.to_string(), "2026-11-17T19:00:00.000Z warning roost: slow");
    const wall_time before = wall_now();
    EXPECT_GE(log_line(severity::info, "now").time(), before);
}

TEST(log_sink, SVC_70_the_ledger_is_written_as_it_is) {
    const log_line line(severity::info, "ledger: accepted=0", wall_now(), log_line::kind::ledger);
    EXPECT_TRUE(line.is_ledger());
    EXPECT_EQ(line.to_string(), "ledger: accepted=0");
    ::testing::internal::CaptureStderr();
    log_to_stderr(line, nullptr);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "ledger: accepted=0\n");
}

TEST(log_sink, SVC_80_a_line_says_how_serious_it_is) {
    const log_line line(severity::warning, "text");
    EXPECT_EQ(line.how(), severity::warning);
    EXPECT_EQ(line.text(), "text");
    EXPECT_EQ(to_string(severity::info), "info");
    EXPECT_EQ(to_string(severity::warning), "warning");
    EXPECT_EQ(to_string(severity::error), "error");
}

}  // namespace
}  // namespace roost::service
