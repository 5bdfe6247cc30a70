#include <roost/runtime/runtime.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/tree/callback.hpp>

#include "fixture.hpp"

#include <sys/resource.h>

#include <gtest/gtest.h>

namespace {

using namespace runtime_tests;

struct heard {
    small_mutex lock;
    std::vector<std::string> reports;
    atomic<std::uint32_t> count{0};

    static void hear(const overrun& what, void* context) noexcept {
        auto& me = *static_cast<heard*>(context);
        me.lock.lock();
        me.reports.push_back(what.to_string());
        me.lock.unlock();
        me.count.fetch_add(1, mo::release);
        wake_on(&me.count, 100);
    }
    void wait() {
        while (count.load(mo::acquire) == 0) {
            wait_on(count, 0);
        }
    }
};

class keeper_of : public ::testing::TestWithParam<unsigned> {};

TEST_P(keeper_of, RUN_70_a_body_that_does_not_suspend_is_reported_by_name_once) {
    heard reports;
    runtime rt(runtime_options()
                   .workers(GetParam())
                   .name("mill")
                   .soft_budget(std::chrono::milliseconds(20))
                   .on_overrun(heard::hear, &reports));
    countdown done(1);
    call spinner([&] {
        const roost::detail::activity_label label("grind", site::here());
        const roost::detail::running_as scope(label);
        reports.wait();
        const time_point until = deadline_after(now(), std::chrono::milliseconds(60));
        while (now() < until) {}
        done.down();
    });
    rt.post(spinner);
    done.wait();
    rt.shut_down();
    ASSERT_EQ(reports.reports.size(), 1U) << "once per body";
    const std::string& said = reports.reports[0];
    EXPECT_NE(said.find("runtime 'mill', worker "), std::string::npos) << said;
    EXPECT_NE(said.find("'grind' ("), std::string::npos) << said;
    EXPECT_NE(said.find("keeper_test.cpp:"), std::string::npos) << said;
    EXPECT_NE(said.find("s without suspending"), std::string::npos) << said;
}

TEST_P(keeper_of, RUN_194_a_callback_that_keeps_its_worker_is_reported_with_the_place_of_its_node) {
    heard reports;
    runtime rt(
        runtime_options().workers(GetParam()).soft_budget(std::chrono::milliseconds(20)).on_overrun(heard::hear, &reports));
    owned_scope root(rt, scope_options("requests").report_failures());
    countdown done(1);
    {
        const callback grinds(root.observe(), level::cancel, rt, [&] {
            reports.wait();
            done.down();
        });
        root.cancel();
        done.wait();
    }
    root.close_blocking();
    rt.shut_down();
    ASSERT_EQ(reports.reports.size(), 1U);
    EXPECT_NE(reports.reports[0].find("'a callback' ("), std::string::npos) << reports.reports[0];
    EXPECT_NE(reports.reports[0].find("keeper_test.cpp:"), std::string::npos) << reports.reports[0];
}

// Reports while short bodies follow each other for two and a half times the budget.
std::uint32_t reports_of_short_bodies(unsigned workers, duration budget) {
    heard reports;
    runtime rt(runtime_options().workers(workers).soft_budget(budget).on_overrun(heard::hear, &reports));
    countdown done(1);
    const time_point until = deadline_after(now(), budget * 5 / 2);
    call* self = nullptr;
    call c([&] {
        if (now() < until) {
            rt.post(*self);
        } else {
            done.down();
        }
    });
    self = &c;
    rt.post(c);
    done.wait();
    rt.shut_down();
    return reports.count.load(mo::relaxed);
}

// On a busy machine a worker may have no processor for as long as the budget, inside a short body. That does not happen every time
// and with every budget; a watcher that adds bodies up reports always.
TEST_P(keeper_of, RUN_71_many_short_bodies_are_not_reported) {
    duration budget = std::chrono::milliseconds(200);
    std::uint32_t reports = reports_of_short_bodies(GetParam(), budget);
    for (int again = 0; reports != 0 && again < 4; ++again) {
        budget *= 2;
        reports = reports_of_short_bodies(GetParam(), budget);
    }
    EXPECT_EQ(reports, 0U);
}

std::int64_t cpu_microseconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto us = [](const timeval& t) { return std::int64_t{t.tv_sec} * 1000000 + t.tv_usec; };
    return us(used.ru_utime) + us(used.ru_stime);
}

// A hang limit would not show a spinning worker: processor time does.
TEST_P(keeper_of, RUN_72_an_idle_runtime_uses_no_processor_time) {
    runtime rt(runtime_options().workers(GetParam()));
    countdown done(1);
    call c([&] { done.down(); });
    rt.post(c);
    done.wait();
    test_timer far;
    far.set_deadline(deadline_after(now(), std::chrono::hours(1)));
    rt.timers().arm(far);
    atomic<std::uint32_t> nobody{0};
    std::int64_t used = 0;
    for (int look = 0; look < 10; ++look) {  // on a busy machine it settles late; what spins, spins in every look
        wait_on_until(nobody, 0, deadline_after(now(), std::chrono::milliseconds(100)));
        const std::int64_t before = cpu_microseconds();
        wait_on_until(nobody, 0, deadline_after(now(), std::chrono::milliseconds(500)));
        used = cpu_microseconds() - before;
        if (used < 5000) {
            break;
        }
    }
    EXPECT_LT(used, 5000) << "microseconds in half a second";
    RecordProperty("idle_us_per_500ms", std::to_string(used));
    rt.timers().disarm(far);
}

// After a doze the watcher has to notice again.
TEST_P(keeper_of, RUN_73_work_after_a_long_idle_time_is_watched_again) {
    heard reports;
    runtime rt(
        runtime_options().workers(GetParam()).soft_budget(std::chrono::milliseconds(10)).on_overrun(heard::hear, &reports));
    atomic<std::uint32_t> nobody{0};
    wait_on_until(nobody, 0, deadline_after(now(), std::chrono::milliseconds(150)));  // dozing by now
    countdown done(1);
    call spinner([&] {
        reports.wait();
        done.down();
    });
    rt.post(spinner);
    done.wait();
    rt.shut_down();
    ASSERT_EQ(reports.reports.size(), 1U);
    EXPECT_NE(reports.reports[0].find("a body without a name"), std::string::npos) << reports.reports[0];
}

TEST(overrun, OBS_240_names_the_await_that_the_body_continued_from) {
    const site here = site::here();
    const observe::overrun started("mill", 1, "grind", here, std::chrono::seconds(2));
    EXPECT_FALSE(started.continued_at().is_known());
    EXPECT_TRUE(started.to_string().ends_with("has run for 2 s without suspending")) << started.to_string();
    const observe::overrun continued("mill", 1, "grind", here, std::chrono::seconds(2), here);
    EXPECT_EQ(continued.continued_at(), here);
    EXPECT_NE(continued.to_string().find("without suspending, after its await at keeper_test.cpp:"), std::string::npos)
        << continued.to_string();
}

INSTANTIATE_TEST_SUITE_P(workers, keeper_of, ::testing::Values(1U, 2U));

}  // namespace
