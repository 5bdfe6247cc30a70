#include <roost/service/component.hpp>

#include "memory_sink.hpp"

#include <roost/service/service.hpp>
#include <roost/task/sleep.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
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

task<> fails() {
    throw std::runtime_error("address in use");
    co_return;
}

TEST(component, SVC_101_a_failed_job_ends_the_service_with_its_error_and_exit_code) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            component& door = h.add("door", component_options().intake());
            h.set_ready();
            const job accept = door.launch("accept", fails());
            co_await accept.join();
            EXPECT_FALSE(h.is_ready());
            co_await h.stopping();
        },
        sink.quiet().total(std::chrono::hours(1)));
    EXPECT_EQ(code, exit_code::component_failed);
    EXPECT_TRUE(sink.has("component 'door': job 'accept' (")) << sink.text();
    EXPECT_TRUE(sink.has("component_test.cpp:")) << sink.text();
    EXPECT_TRUE(sink.has(") failed: std::runtime_error: address in use")) << sink.text();
    EXPECT_TRUE(sink.has("component 'door' failed (std::runtime_error: address in use): shutting down")) << sink.text();
}

TEST(component, SVC_101_what_was_begun_is_finished) {
    memory_sink sink;
    event failed("failed");
    const int code = run(
        [&failed](host& h) -> task<> {
            auto order = h.ledger().accept();
            h.main().launch("order", [](host& in, event& after, ledger::entry entry) -> task<> {
                co_await after.wait();
                co_await in.stopping();
                entry.complete();
            }(h, failed, std::move(order)));
            co_await h.add("door").launch("accept", fails()).join();
            failed.set();
            co_await h.stopping();
        },
        sink.quiet().total(std::chrono::hours(1)));
    EXPECT_EQ(code, exit_code::component_failed);
    EXPECT_EQ(sink.lines().back(), "ledger: accepted=1 completed=1 failed=0 cancelled=0 abandoned=0 lost=0");
}

TEST(component, SVC_101_a_job_of_main_is_no_exception) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            h.main().launch("side job", fails());
            co_await h.stopping();
        },
        sink.quiet().total(std::chrono::hours(1)));
    EXPECT_EQ(code, exit_code::component_failed);
}

TEST(component, SVC_101_a_thread_fails_its_component_by_hand) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            component& door = h.add("door");
            std::thread other([&door] { door.fail(std::make_exception_ptr(std::runtime_error("poll: bad descriptor"))); });
            other.join();
            co_await h.stopping();
        },
        sink.quiet().total(std::chrono::hours(1)));
    EXPECT_EQ(code, exit_code::component_failed);
    EXPECT_TRUE(sink.has("component 'door' (")) << sink.text();
    EXPECT_TRUE(sink.has(") failed: std::runtime_error: poll: bad descriptor")) << sink.text();
}

TEST(component, SVC_101_a_failure_during_shutdown_changes_the_exit_code_alone) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            h.shut_down("over");
            co_await h.stopping();
            co_await h.main().launch("late", fails()).join();
        },
        sink.quiet().total(std::chrono::hours(1)));
    EXPECT_EQ(code, exit_code::component_failed);
    EXPECT_FALSE(sink.has("failed (std::runtime_error: address in use): shutting down")) << sink.text();
}

TEST(component, SVC_43_a_failing_job_of_an_optional_component_is_reported_and_the_service_goes_on) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            component& web = h.add("web", component_options().optional());
            h.set_ready();
            const job bad = web.launch("bad", []() -> task<> {
                throw std::runtime_error("broken request");
                co_return;
            }());
            co_await bad.join();
            const job good = web.launch("good", []() -> task<> { co_return; }());
            co_await good.join();
            EXPECT_EQ(good.state(), job_state::completed);
            EXPECT_TRUE(web.shutdown().state() == shutdown_state::running);
            EXPECT_TRUE(h.is_ready());
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
    static_assert(!component_options().is_optional() && component_options().optional().is_optional());
}

}  // namespace
}  // namespace roost::service
