#include <roost/service/component.hpp>

#include "memory_sink.hpp"

#include <roost/service/service.hpp>
#include <roost/task/sleep.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>

namespace roost::service {
namespace {

static_assert(std::is_trivially_destructible_v<component_options>);
static_assert(!std::is_copy_constructible_v<component>);
static_assert(!std::is_destructible_v<component>);

TEST(component, SVC_43_its_jobs_and_guards_are_its_work) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            component& web = h.add("web");
            EXPECT_EQ(web.name(), "web");
            EXPECT_EQ(web.options().stage(), stage::work);
            EXPECT_EQ(web.shutdown().guard_count(), 0U);
            {
                const auto g = web.shutdown().guard();
                EXPECT_EQ(web.shutdown().guard_count(), 1U);
            }
            const job j = web.launch("short", []() -> task<> { co_return; }());
            co_await j.join();
            auto sum = web.jobs().async("sum", []() -> task<int> { co_return 1 + 1; }());
            const int two = co_await std::move(sum);
            EXPECT_EQ(two, 2);
        },
        sink.quiet());
    EXPECT_EQ(code, 0);
}

TEST(component, SVC_43_a_failing_job_is_reported_and_the_component_goes_on) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            component& web = h.add("web");
            const job bad = web.launch("bad", []() -> task<> {
                throw std::runtime_error("broken request");
                co_return;
            }());
            co_await bad.join();
            const job good = web.launch("good", []() -> task<> { co_return; }());
            co_await good.join();
            EXPECT_EQ(good.state(), job_state::completed);
            EXPECT_TRUE(is_running(web.shutdown().state()));
        },
        sink.quiet());
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(sink.has("job 'bad' ("));
    EXPECT_TRUE(sink.has("failed: std::runtime_error: broken request"));
}

TEST(component, SVC_45_when_work_is_over_no_more_jobs_are_taken) {
    memory_sink sink;
    job too_late;
    bool tried = false;
    const int code = run(
        [&](host& h) -> task<> {
            component& web = h.add("web");
            h.add("db", component_options().release()).on_stop([&]() -> task<> {
                too_late = web.launch("too late", []() -> task<> { co_return; }());
                tried = true;
                co_return;
            });
            co_return;
        },
        sink.quiet());
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(tried);
    EXPECT_FALSE(static_cast<bool>(too_late));
}

TEST(component, SVC_41_options) {
    constexpr component_options o = component_options().in(stage::intake).rank(3).budget(std::chrono::seconds(1));
    static_assert(o.stage() == stage::intake && o.rank() == 3 && o.budget() == std::chrono::seconds(1));
    EXPECT_EQ(component_options().rank(), std::nullopt);
    EXPECT_EQ(component_options().release().stage(), stage::release);
}

}  // namespace
}  // namespace roost::service
