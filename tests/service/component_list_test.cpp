#include <roost/service/detail/component_list.hpp>

#include <roost/service/detail/wake_fd.hpp>
#include <roost/testing/manual_executor.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

namespace roost::service::detail {
namespace {

using std::chrono::seconds;
constexpr time_point start{seconds(1000)};

// Time is what the test says; nothing runs by itself.
class component_list_test : public ::testing::Test {
protected:
    component_list_test() : list(root.child("work"), root.child("resources"), executor, times.value()) {
        list.add_main("main", std::source_location::current());
    }
    bool step(time_point now) {
        next = no_deadline;
        return list.step(now, next);
    }
    void begin(stage s, duration budget) {
        list.begin(s, start + budget, reason::plain_kind(reason_kind::shutdown), bell.fd());
    }
    component& add(const char* name, component_options o = {}) { return list.add(name, o, std::source_location::current()); }

    testing::manual_executor executor;
    roost::shutdown root{"service"};
    schedule_result times = schedule_result::make(budgets());
    wake_fd bell;
    component_list list;
    time_point next = no_deadline;
};

TEST_F(component_list_test, SVC_42_the_next_is_stopped_when_the_one_before_is_over_or_has_had_its_share) {
    component& a = add("a");
    component& b = add("b");
    const auto working = b.shutdown().guard();
    begin(stage::work, seconds(15));
    EXPECT_FALSE(step(start));
    EXPECT_FALSE(b.shutdown().state() == shutdown_state::running);
    EXPECT_TRUE(a.shutdown().state() == shutdown_state::running);
    EXPECT_EQ(next, start + seconds(5));  // a third each: b, a, main
    EXPECT_FALSE(step(start + seconds(4)));
    EXPECT_TRUE(a.shutdown().state() == shutdown_state::running);
    EXPECT_FALSE(step(start + seconds(5)));
    EXPECT_FALSE(a.shutdown().state() == shutdown_state::running);
    EXPECT_FALSE(list.main().shutdown().state() == shutdown_state::running);  // a was over at once
}

TEST_F(component_list_test, SVC_42_a_budget_of_its_own_counts_instead) {
    component& a = add("a");
    component& b = add("b", component_options().budget(seconds(1)));
    const auto working = b.shutdown().guard();
    begin(stage::work, seconds(15));
    EXPECT_FALSE(step(start));
    EXPECT_EQ(next, start + seconds(1));
    EXPECT_TRUE(a.shutdown().state() == shutdown_state::running);
}

TEST_F(component_list_test, SVC_41_equal_ranks_stop_together) {
    component& a = add("a", component_options().rank(1));
    component& b = add("b", component_options().rank(1));
    component& c = add("c", component_options().rank(2));
    auto in_c = c.shutdown().guard();
    const auto in_a = a.shutdown().guard();
    begin(stage::work, seconds(15));
    EXPECT_FALSE(step(start));
    EXPECT_TRUE(a.shutdown().state() == shutdown_state::running && b.shutdown().state() == shutdown_state::running);
    in_c.reset();
    EXPECT_FALSE(step(start));
    EXPECT_FALSE(a.shutdown().state() == shutdown_state::running || b.shutdown().state() == shutdown_state::running);
    EXPECT_TRUE(list.main().shutdown().state() == shutdown_state::running);
}

TEST_F(component_list_test, SVC_40_the_end_of_a_component_rings) {
    component& a = add("a");
    auto g = a.shutdown().guard();
    begin(stage::work, seconds(15));
    EXPECT_FALSE(step(start));
    g.reset();
    bell.sleep_until(no_deadline);  // hangs without a ring
    EXPECT_TRUE(step(start));
}

TEST_F(component_list_test, SVC_40_stages_do_not_touch_each_other) {
    component& in = add("in", component_options().intake());
    component& db = add("db", component_options().release());
    component& work = add("work");
    begin(stage::intake, seconds(1));
    EXPECT_TRUE(step(start));
    EXPECT_FALSE(in.shutdown().state() == shutdown_state::running);
    EXPECT_TRUE(work.shutdown().state() == shutdown_state::running && db.shutdown().state() == shutdown_state::running);
    begin(stage::work, seconds(1));
    EXPECT_TRUE(step(start));
    EXPECT_TRUE(db.shutdown().state() == shutdown_state::running);
    begin(stage::release, seconds(1));
    EXPECT_TRUE(step(start));
    EXPECT_FALSE(db.shutdown().state() == shutdown_state::running);
}

TEST_F(component_list_test, SVC_43_a_hook_is_work_of_its_component) {
    component& a = add("a");
    int runs = 0;
    a.on_stop([&runs]() -> task<> {
        ++runs;
        co_return;
    });
    begin(stage::work, seconds(15));
    EXPECT_FALSE(step(start));
    EXPECT_EQ(runs, 0);
    executor.run_all();
    EXPECT_EQ(runs, 1);
    EXPECT_TRUE(step(start));
}

TEST_F(component_list_test, SVC_44_too_late_is_born_stopped) {
    begin(stage::work, seconds(15));
    EXPECT_TRUE(step(start));
    component& late = add("late");
    EXPECT_TRUE(late.shutdown().state() == shutdown_state::complete);
}

// Whatever holds whatever: every component is asked within the phase, in the order of stop_order, and none twice.
TEST_F(component_list_test, SVC_40_random_holders) {
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        component_list some(root.child("work"), root.child("resources"), executor, times.value());
        some.add_main("main", std::source_location::current());
        std::vector<component*> all{&some.main()};
        std::vector<roost::guard> held;
        for (auto i = random() % 6; i > 0; --i) {
            all.push_back(&some.add("c", component_options(), std::source_location::current()));
            if (random() % 2 == 0) {
                held.push_back(all.back()->shutdown().guard());
            }
        }
        some.begin(stage::work, start + seconds(10), reason::plain_kind(reason_kind::shutdown), bell.fd());
        time_point now = start;
        std::size_t asked = 0;
        for (int turn = 0; turn < 20; ++turn) {
            next = no_deadline;
            const bool over = some.step(now, next);
            ASSERT_EQ(over, held.empty() && next == no_deadline);
            std::size_t stopped = 0;
            for (std::size_t i = all.size(); i-- > 0 && all[i]->shutdown().state() != shutdown_state::running;) {
                ++stopped;
            }
            ASSERT_GE(stopped, asked);
            asked = stopped;
            if (!held.empty() && random() % 3 == 0) {
                held.pop_back();
            } else if (next != no_deadline) {
                now = next;
            }
        }
        ASSERT_LE(now, start + seconds(10));
        ASSERT_EQ(asked, all.size());
        held.clear();
    }
}

}  // namespace
}  // namespace roost::service::detail
