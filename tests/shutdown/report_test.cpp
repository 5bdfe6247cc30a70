// Reports of outstanding work.

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace {

using roost::guard;
using roost::shutdown;
using roost::observe::guard_tracking;

// Ages with a resolution that tests can rely on.
class report : public ::testing::Test {
protected:
    void SetUp() override { roost::observe::set_guard_tracking(guard_tracking::exact); }
    void TearDown() override { roost::observe::set_guard_tracking(guard_tracking::sites); }
};

TEST_F(report, SHUT_54_records_the_users_line) {
    const shutdown s("server");
    const guard g = s.guard();
    const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
    const auto r = s.report();
    ASSERT_EQ(r.entries().size(), 1U);
    EXPECT_EQ(r.entries()[0].site().line(), line);
    EXPECT_NE(std::string(r.entries()[0].site().file()).find("report_test.cpp"), std::string::npos);
    EXPECT_EQ(r.entries()[0].name(), "server");
    EXPECT_EQ(g.site().line(), line);
}

TEST_F(report, SHUT_54_wrappers_record_the_users_line_and_copies_inherit) {
    const shutdown s;
    const auto wrapped = s.guarded(1);
    const auto chained = s.interrupt(1).guarded();
    const auto copy = wrapped;  // NOLINT(performance-unnecessary-copy-initialization): a second guard
    const auto first = static_cast<std::uint32_t>(__LINE__ - 3);
    const auto r = s.report();
    ASSERT_EQ(r.entries().size(), 2U);
    EXPECT_EQ(r.entries()[0].site().line(), first);
    EXPECT_EQ(r.entries()[0].count(), 2U);
    EXPECT_EQ(r.entries()[1].site().line(), first + 1);
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
    EXPECT_EQ(one.find("1 guard outstanding:\n  1 guard of 'server' ("), 0U) << one;
    EXPECT_NE(one.find("report_test.cpp:"), std::string::npos);
    EXPECT_NE(one.find(", age 0 ms\n"), std::string::npos) << one;
    for (int i = 0; i < 2; ++i) {
        held.push_back(s.guard());
    }
    const std::string three = s.report().to_string();
    EXPECT_EQ(three.find("3 guards outstanding:\n"), 0U) << three;
    EXPECT_NE(three.find("  2 guards of 'server' ("), std::string::npos) << three;
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

TEST_F(report, SHUT_55_says_what_each_of_a_group_waits_on) {
    using namespace std::chrono_literals;
    roost::observe::report_entry e("job", "query", roost::site());
    roost::detail::shutdown_access::add(e, 1, 1s, "pool 'db'");
    EXPECT_EQ(e.to_string(), "1 job 'query' (unknown site), age 1 s, waits on pool 'db'");
    roost::detail::shutdown_access::add(e, 1, 2s, "pool 'db'");
    EXPECT_EQ(e.to_string(), "2 jobs 'query' (unknown site), oldest 2 s, all wait on pool 'db'");
    roost::detail::shutdown_access::add(e, 1, 3s, "foreign awaitable", true);
    EXPECT_EQ(
        e.to_string(),
        "3 jobs 'query' (unknown site), oldest 3 s, 1 waits on foreign awaitable (uninterruptible), 2 wait on pool 'db'");
    roost::detail::shutdown_access::add(e, 2, std::nullopt);
    EXPECT_EQ(e.to_string(),
              "5 jobs 'query' (unknown site), oldest 3 s, 1 waits on foreign awaitable (uninterruptible), 2 wait on pool "
              "'db', 2 "
              "are running");
    EXPECT_EQ(e.waits_on(), "foreign awaitable");
    EXPECT_TRUE(e.is_uninterruptible());
    ASSERT_EQ(e.waits().size(), 3U);
    EXPECT_EQ(e.waits()[1].count, 2U);
    roost::detail::shutdown_access::add(e, 1, 4s, "pool 'db'");
    EXPECT_EQ(e.waits_on(), "pool 'db'") << "the oldest one's first";
}

TEST_F(report, SHUT_114_a_line_says_eight_waits_and_how_many_are_left) {
    using namespace std::chrono_literals;
    roost::observe::report_entry e("job", "query", roost::site());
    for (int i = 0; i < 1000; ++i) {
        roost::detail::shutdown_access::add(e, 1, 1ms * i, "pool '" + std::to_string(i) + "'");
    }
    EXPECT_EQ(e.waits_on(), "pool '999'") << "the oldest one's first";
    EXPECT_EQ(e.waits().size(), 64U);
    const std::string text = e.to_string();
    EXPECT_NE(text.find("1 waits on pool '999', 1 waits on pool '998'"), std::string::npos) << text;
    EXPECT_NE(text.find("1 waits on pool '992', and 992 more"), std::string::npos) << text;
    roost::observe::report_entry few("job", "query", roost::site());
    for (int i = 0; i < 8; ++i) {
        roost::detail::shutdown_access::add(few, 1, std::nullopt, "pool '" + std::to_string(i) + "'");
    }
    EXPECT_EQ(few.to_string().find("more"), std::string::npos);
}

// Processor time of a report of n nodes, each with a name of its own; the least of three.
double report_cost(int n) {
    const shutdown root("root");
    std::vector<shutdown> nodes;
    std::vector<guard> guards;
    for (int i = 0; i < n; ++i) {
        nodes.push_back(root.child(roost::node_name("connection " + std::to_string(i))));
        guards.push_back(nodes.back().guard());
    }
    double least = 1e9;
    for (int turn = 0; turn < 3; ++turn) {
        const std::clock_t from = std::clock();
        EXPECT_EQ(root.report().entries().size(), static_cast<std::size_t>(n));
        least = std::min(least, static_cast<double>(std::clock() - from));
    }
    return least;
}

TEST_F(report, SHUT_114_takes_time_in_proportion_to_the_number_of_names) {
    const double small = std::max(report_cost(2000), 500.0);
    EXPECT_LT(report_cost(16000), 32 * small) << "8 times as many: 64 times as long if it grew with the square";
}

TEST_F(report, SHUT_110_a_number_that_is_not_exact_says_about) {
    const shutdown s("server");
    roost::observe::set_guard_tracking(guard_tracking::off);
    const guard g = s.guard();
    const auto r = s.report();
    ASSERT_EQ(r.entries().size(), 1U);
    EXPECT_TRUE(r.entries()[0].is_about());
    EXPECT_EQ(r.entries()[0].to_string(), "about 1 guard of 'server' (unknown site)");
}

}  // namespace
