#include <roost/task/failure_sink.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace roost;

namespace {

task<> fails() {
    throw std::runtime_error("no route");
    co_return;
}

TEST(failure_sink, TASK_39_the_default_prints_one_line_with_name_place_and_error) {
    ::testing::internal::CaptureStderr();
    {
        rig::stage s;
        s.play(fails(), "poller");
    }
    const std::string line = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(line.find("job 'poller' ("), std::string::npos) << line;
    EXPECT_NE(line.find("rig.hpp:"), std::string::npos) << line;
    EXPECT_NE(line.find("std::runtime_error: no route"), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(failure_sink, TASK_39_describe_names_what_was_thrown) {
    EXPECT_EQ(describe(nullptr), "no error");
    EXPECT_EQ(describe(std::make_exception_ptr(std::out_of_range("far"))), "std::out_of_range: far");
    EXPECT_EQ(describe(std::make_exception_ptr(7)), "int");
}

TEST(failure_sink, TASK_39_null_puts_the_default_back) {
    const auto mine = +[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {};
    const auto first = set_failure_sink(mine);
    EXPECT_EQ(set_failure_sink(nullptr), mine);
    EXPECT_EQ(set_failure_sink(first), first);
}

}  // namespace
