// Who is holding it up.

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using roost::guard;
using roost::guard_tracking;
using roost::shutdown;

// Ages with a resolution that tests can rely on.
class report : public ::testing::Test {
protected:
    void SetUp() override { roost::set_guard_tracking(guard_tracking::exact); }
    void TearDown() override { roost::set_guard_tracking(guard_tracking::coarse); }
};

TEST_F(report, SHUT_54_records_the_users_line) {
    const shutdown s("server");
    const guard g = s.guard();
    const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
    const auto r = s.report();
    ASSERT_EQ(r.entries().size(), 1U);
    EXPECT_EQ(r.entries()[0].where().line(), line);
    EXPECT_NE(std::string(r.entries()[0].where().file()).find("report_test.cpp"), std::string::npos);
    EXPECT_EQ(r.entries()[0].name(), "server");
    EXPECT_EQ(g.made_at().line(), line);
}

TEST_F(report, SHUT_54_wrappers_record_the_users_line_and_copies_inherit) {
    const shutdown s;
    const auto wrapped = s.guarded(1);
    const auto chained = s.interrupt(1).guarded();
    const auto copy = wrapped;  // NOLINT(performance-unnecessary-copy-initialization): a second guard
    const auto first = static_cast<std::uint32_t>(__LINE__ - 3);
    const auto r = s.report();
    ASSERT_EQ(r.entries().size(), 2U);
    EXPECT_EQ(r.entries()[0].where().line(), first);
    EXPECT_EQ(r.entries()[0].count(), 2U);
    EXPECT_EQ(r.entries()[1].where().line(), first + 1);
    EXPECT_EQ(r.total(), 3U);
}

TEST_F(report, SHUT_55_groups_sorts_and_counts) {
    const shutdown s("server");
    std::vector<guard> held;
    held.push_back(s.guard());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (int i = 0; i < 3; ++i) {
        held.push_back(s.guard());
    }
    const auto r = s.report();
    ASSERT_EQ(r.entries().size(), 2U);
    EXPECT_EQ(r.entries()[0].count(), 1U);
    EXPECT_EQ(r.entries()[1].count(), 3U);
    EXPECT_GT(r.entries()[0].oldest(), r.entries()[1].oldest());
    EXPECT_EQ(r.total(), 4U);
    EXPECT_FALSE(r.is_empty());
    std::size_t total = 0;
    for (const auto& e : r) {
        total += e.count();
    }
    const auto copy = r;  // NOLINT(performance-unnecessary-copy-initialization)
    for (auto e : copy) {
        total += e.count();
    }
    EXPECT_EQ(total, 8U);
}

TEST_F(report, SHUT_55_groups_by_name_too) {
    const shutdown s("server");
    const shutdown a = s.child("a");
    const shutdown b = s.child(std::string("b"));
    std::vector<guard> held;
    for (const shutdown* c : {&a, &b, &a}) {
        held.push_back(c->guard());
    }
    const auto r = s.report();
    ASSERT_EQ(r.entries().size(), 2U);
    EXPECT_EQ(r.entries()[0].name(), "a");
    EXPECT_EQ(r.entries()[0].count(), 2U);
    EXPECT_EQ(b.report().total(), 1U);
}

TEST_F(report, SHUT_56_text) {
    const shutdown s("server");
    EXPECT_EQ(s.report().to_string(), "no work outstanding\n");
    std::vector<guard> held;
    held.push_back(s.guard());
    const std::string one = s.report().to_string();
    EXPECT_EQ(one.find("1 guard outstanding:\n  1 guard of 'server' at "), 0U) << one;
    EXPECT_NE(one.find("report_test.cpp:"), std::string::npos);
    EXPECT_NE(one.find(", age 0 ms\n"), std::string::npos) << one;
    for (int i = 0; i < 2; ++i) {
        held.push_back(s.guard());
    }
    const std::string three = s.report().to_string();
    EXPECT_EQ(three.find("3 guards outstanding:\n"), 0U) << three;
    EXPECT_NE(three.find("  2 guards of 'server' at "), std::string::npos) << three;
    EXPECT_EQ(roost::format_age(std::chrono::milliseconds(2500)), "2.5 s");
    EXPECT_EQ(roost::format_age(std::chrono::milliseconds(40)), "40 ms");
}

TEST_F(report, SHUT_57_includes_descendants_and_orphaned_guards) {
    const shutdown s("server");
    const guard g = s.child("connection").guard();
    const auto r = s.report();
    ASSERT_EQ(r.total(), 1U);
    EXPECT_EQ(r.entries()[0].name(), "connection");
    const shutdown other;
    EXPECT_TRUE(other.report().is_empty());
}

TEST_F(report, SHUT_58_ages_may_be_absent) {
    roost::set_guard_tracking(guard_tracking::sites);
    const shutdown s("server");
    const guard g = s.guard();
    roost::set_guard_tracking(guard_tracking::off);
    const guard h = s.guard();
    const auto r = s.report();
    EXPECT_EQ(r.total(), 2U);
    for (const auto& e : r) {
        EXPECT_FALSE(e.oldest().has_value());
    }
    EXPECT_NE(r.to_string().find("1 guard of 'server' at unknown site"), std::string::npos) << r.to_string();
}

TEST_F(report, SHUT_57_guards_of_other_threads) {
    const shutdown s("server");
    guard moved;
    std::thread maker([&] { moved = s.guard(); });
    maker.join();
    EXPECT_EQ(s.report().total(), 1U);
    std::thread another([&] {
        const guard own = s.guard();  // may take over the ended thread's table
        EXPECT_EQ(s.report().total(), 2U);
    });
    another.join();
    EXPECT_EQ(s.report().total(), 1U);
    moved.reset();
    EXPECT_TRUE(s.report().is_empty());
}

TEST_F(report, SHUT_60_slots_are_used_again) {
    const shutdown s;
    { const guard warm = s.guard(); }
    const std::size_t before = roost::detail::recorded_capacity();
    for (int i = 0; i < 100'000; ++i) {
        const guard a = s.guard();
        const guard b = a;
        const guard c = b;
    }
    EXPECT_EQ(roost::detail::recorded_capacity(), before);
    std::vector<guard> held;
    for (int i = 0; i < 1000; ++i) {
        held.push_back(s.guard());
    }
    EXPECT_LE(roost::detail::recorded_capacity(), before + 4096);
    EXPECT_EQ(s.report().total(), 1000U);
    held.clear();
    EXPECT_TRUE(s.report().is_empty());
}

// --- log -------------------------------------------------------------------------------------------------------------------

class log : public ::testing::Test {
protected:
    void SetUp() override {
        roost::set_shutdown_log(
            [](void* self, const roost::shutdown_record& r) noexcept {
                static_cast<log*>(self)->lines.push_back((r.severity == roost::log_severity::debug ? "D " : "T ") + r.to_string());
            },
            this);
    }
    void TearDown() override { roost::set_shutdown_log(nullptr); }
    [[nodiscard]] long late() const {
        return std::count_if(lines.begin(), lines.end(), [](const std::string& l) { return l.starts_with("D "); });
    }
    std::vector<std::string> lines;
};

TEST_F(log, SHUT_59_one_debug_record_for_a_guard_dropped_after_stop) {
    const shutdown s("server");
    { const guard early = s.guard(); }
    EXPECT_EQ(late(), 0);
    guard g = s.guard();
    const std::string here = "report_test.cpp:" + std::to_string(__LINE__ - 1);
    auto wrapped = s.guarded(1);
    s.shut_down();
    EXPECT_EQ(late(), 0);
    g.reset();
    EXPECT_EQ(late(), 1);
    EXPECT_NE(lines.back().find("is complete"), 0U);
    EXPECT_NE(lines[1].find("guard of 'server' dropped after stop"), std::string::npos) << lines[1];
    EXPECT_NE(lines[1].find(here), std::string::npos) << lines[1];
    EXPECT_NE(lines[1].find("held for"), std::string::npos) << lines[1];
    static_cast<void>(std::move(wrapped).into_inner());
    EXPECT_EQ(late(), 2);
}

TEST_F(log, SHUT_61_transitions_are_traced) {
    const shutdown s("server");
    guard g = s.guard();
    s.shut_down();
    g.reset();
    const std::vector<std::string> traced{lines.front(), lines.back()};
    EXPECT_EQ(traced, (std::vector<std::string>{"T shutdown 'server' is now at stop", "T shutdown 'server' is complete"}));
}

}  // namespace
