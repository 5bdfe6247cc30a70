#include <roost/service/log_sink.hpp>

#include <gtest/gtest.h>

#include <string>

namespace roost::service {
namespace {

TEST(log_sink, SVC_80_the_default_writes_the_line_and_its_end_to_stderr) {
    ::testing::internal::CaptureStderr();
    log_to_stderr(log_line(severity::info, "one line"), nullptr);
    log_to_stderr(log_line(severity::error, ""), nullptr);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "one line\n\n");
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
