#include <roost/base/failure_sink.hpp>

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

}  // namespace
