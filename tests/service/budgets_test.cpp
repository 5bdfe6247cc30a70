#include <roost/service/budgets.hpp>

#include <roost/service/detail/last_resort.hpp>
#include <roost/task/on_exit.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace roost::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr phase parts[] = {phase::lame_duck, phase::stop_intake, phase::drain, phase::cancel, phase::abort, phase::release};

duration sum_of(const schedule& s) {
    duration sum{};
    for (const phase p : parts) {
        sum += s.of(p);
    }
    return sum;
}

TEST(budgets, SVC_30_the_default_is_25_seconds_in_all) {
    const schedule_result r = schedule_result::make(budgets());
    ASSERT_TRUE(r.is_good());
    EXPECT_EQ(r.value().total(), seconds(25));
    EXPECT_EQ(r.value().of(phase::drain), seconds(15));
    EXPECT_EQ(r.value().of(phase::lame_duck), seconds(0));
    EXPECT_EQ(sum_of(r.value()), seconds(25));
    EXPECT_EQ(r.value().to_string(),
              "total 25 s: lame duck 0 ms, stop intake 2 s, drain 15 s, cancel 4 s, abort 1 s, release 3 s");
}

TEST(budgets, SVC_32_what_is_not_set_shares_what_is_left) {
    const schedule_result r = schedule_result::make(budgets().total(seconds(10)).set(phase::lame_duck, seconds(5)));
    ASSERT_TRUE(r.is_good());
    EXPECT_EQ(r.value().of(phase::lame_duck), seconds(5));
    EXPECT_EQ(r.value().of(phase::drain), seconds(3));
    EXPECT_EQ(sum_of(r.value()), seconds(10));
}

TEST(budgets, SVC_30_more_than_the_total_is_refused_with_the_sum) {
    const schedule_result r =
        schedule_result::make(budgets().set(phase::drain, seconds(20)).set(phase::release, seconds(6)));
    ASSERT_FALSE(r.is_good());
    EXPECT_EQ(r.problem(), "the budgets of shutdown (drain 20 s + release 6 s = 26 s) are more than its total of 25 s");
}

TEST(budgets, SVC_30_no_total_no_drain_and_negative_budgets_are_refused) {
    EXPECT_NE(schedule_result::make(budgets().total(seconds(0))).problem().find("has to be positive"), std::string::npos);
    EXPECT_NE(schedule_result::make(budgets().set(phase::cancel, seconds(25))).problem().find("nothing for phase drain"),
              std::string::npos);
    EXPECT_NE(schedule_result::make(budgets().set(phase::cancel, seconds(-1))).problem().find("negative"),
              std::string::npos);
    EXPECT_FALSE(
        schedule_result::make(budgets().set(phase::drain, duration::max()).set(phase::cancel, duration::max())).is_good());
}

TEST(budgets, SVC_30_no_mixture_exceeds_the_total) {
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        budgets b;
        b.total(milliseconds(random() % 30000));
        for (const phase p : parts) {
            if (random() % 2 == 0) {
                b.set(p, milliseconds(random() % 10000));
            }
        }
        const schedule_result r = schedule_result::make(b);
        ASSERT_NE(r.is_good(), !r.problem().empty());
        if (r.is_good()) {
            ASSERT_LE(sum_of(r.value()), b.total());
            for (const phase p : parts) {
                ASSERT_EQ(b.get(p).value_or(r.value().of(p)), r.value().of(p));
            }
        }
    }
}

TEST(budgets, SVC_31_lengths_of_time) {
    EXPECT_EQ(parse_duration("15s"), seconds(15));
    EXPECT_EQ(parse_duration("15"), seconds(15));
    EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
    EXPECT_EQ(parse_duration("1.5 s"), milliseconds(1500));
    EXPECT_EQ(parse_duration("2m"), std::chrono::minutes(2));
    EXPECT_EQ(parse_duration("2min"), std::chrono::minutes(2));
    EXPECT_EQ(parse_duration("1h"), std::chrono::hours(1));
    EXPECT_EQ(parse_duration("10us"), std::chrono::microseconds(10));
    EXPECT_EQ(parse_duration("0"), seconds(0));
    for (const char* bad : {"", "s", "-1s", "15 parsecs", "1e400", "nan", "inf", "99999999999999h", "1s2"}) {
        EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
    }
    EXPECT_EQ(format_duration(milliseconds(2500)), "2.5 s");
    EXPECT_EQ(format_duration(seconds(100)), "100 s");
}

class environment_variable {
public:
    environment_variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    ~environment_variable() { ::unsetenv(name_); }
    environment_variable(const environment_variable&) = delete;
    environment_variable& operator=(const environment_variable&) = delete;

private:
    const char* name_;
};

TEST(budgets, SVC_31_the_environment_overrides) {
    const environment_variable total("SHOP_TOTAL", "50s");
    const environment_variable lame_duck("SHOP_LAME_DUCK", "5s");
    const environment_variable empty("SHOP_CANCEL", "");
    budgets b;
    b.set(phase::lame_duck, seconds(1)).set(phase::cancel, seconds(2));
    EXPECT_EQ(read_environment(b, "SHOP"), "");
    EXPECT_EQ(b.total(), seconds(50));
    EXPECT_EQ(b.get(phase::lame_duck), seconds(5));
    EXPECT_EQ(b.get(phase::cancel), seconds(2));
    EXPECT_EQ(b.get(phase::drain), std::nullopt);
}

TEST(budgets, SVC_31_nonsense_in_the_environment_is_one_sentence) {
    const environment_variable drain("SHOP_STOP_INTAKE", "soon");
    budgets b;
    EXPECT_EQ(read_environment(b, "SHOP"), "SHOP_STOP_INTAKE is 'soon', which is not a duration such as 15s, 500ms or 2m");
}

TEST(budgets, SVC_105_what_runs_inside_a_phase_has_a_shorter_default) {
    const schedule s = schedule_result::make(budgets()).value();
    EXPECT_LT(roost::detail::default_exit_budget, s.of(phase::cancel));
    EXPECT_LE(options().report_every(), s.of(phase::stop_intake));
    EXPECT_LE(s.total() + detail::last_words_budget, std::chrono::seconds(30));  // what Kubernetes waits
}

}  // namespace
}  // namespace roost::service
