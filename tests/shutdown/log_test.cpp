// What shutdown nodes have to say.

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using roost::guard;
using roost::shutdown;

class log : public ::testing::Test {
protected:
    void SetUp() override {
        before_ = roost::observe::set_shutdown_log(
            {[](void* self, const roost::observe::shutdown_record& r) noexcept {
                 static_cast<log*>(self)->lines.push_back((r.severity == roost::observe::log_severity::debug ? "D " : "T ") +
                                                          r.to_string());
             },
             this});
    }
    void TearDown() override { EXPECT_EQ(roost::observe::set_shutdown_log(before_).context(), this); }
    [[nodiscard]] long late() const {
        return std::count_if(lines.begin(), lines.end(), [](const std::string& l) { return l.starts_with("D "); });
    }
    std::vector<std::string> lines;

private:
    roost::observe::shutdown_log_sink before_;
};

TEST_F(log, SHUT_59_one_debug_record_for_a_guard_dropped_after_stop) {
    const shutdown s("server");
    { const guard early = s.guard(); }
    EXPECT_EQ(late(), 0);
    guard g = s.guard();
    const std::string here = "log_test.cpp:" + std::to_string(__LINE__ - 1);
    auto wrapped = s.guarded(1);
    s.shut_down();
    EXPECT_EQ(late(), 0);
    g.reset();
    EXPECT_EQ(late(), 1);
    ASSERT_EQ(lines.size(), 2U) << "stop, and this guard: another one is left, so nothing is complete";
    EXPECT_NE(lines[1].find("guard of 'server' dropped after stop"), std::string::npos) << lines[1];
    EXPECT_NE(lines[1].find(here), std::string::npos) << lines[1];
    EXPECT_NE(lines[1].find("held for"), std::string::npos) << lines[1];
    static_cast<void>(std::move(wrapped).into_inner());
    EXPECT_EQ(late(), 2);
    EXPECT_EQ(lines.back(), "T shutdown 'server' is complete");
}

TEST_F(log, SHUT_61_transitions_are_traced) {
    const shutdown s("server");
    guard g = s.guard();
    s.shut_down();
    g.reset();
    const std::vector<std::string> traced{lines.front(), lines.back()};
    EXPECT_EQ(traced, (std::vector<std::string>{"T shutdown 'server' is now at stop", "T shutdown 'server' is complete"}));
}

TEST_F(log, SHUT_61_children_without_waiters_are_traced_too) {
    const shutdown s("server");
    const shutdown busy = s.child("busy");
    const shutdown idle = s.child("idle");
    guard g = busy.guard();
    s.shut_down();
    g.reset();
    for (const char* line : {"T shutdown 'idle' is now at stop", "T shutdown 'idle' is complete",
                             "T shutdown 'busy' is now at stop", "T shutdown 'busy' is complete"}) {
        EXPECT_EQ(std::count(lines.begin(), lines.end(), line), 1) << line;
    }
}

}  // namespace
