#include <roost/service/service.hpp>

#include "memory_sink.hpp"

#include <roost/sync/event.hpp>
#include <roost/task/sleep.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace roost::service {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using lines = std::vector<std::string>;

task<> nothing() { co_return; }
task<int> seven() { co_return 7; }
task<> failing() {
    throw std::runtime_error("no database");
    co_return;
}

TEST(service, SVC_27_the_end_of_the_root_task_is_the_end_of_the_service) {
    memory_sink sink;
    EXPECT_EQ(run(nothing(), sink.quiet()), 0);
    EXPECT_TRUE(sink.has("the root task ended: shutting down"));
    EXPECT_EQ(sink.lines().back(), "ledger: accepted=0 completed=0 failed=0 cancelled=0 abandoned=0 lost=0");
}

TEST(service, SVC_27_its_number_is_the_exit_code) {
    memory_sink sink;
    EXPECT_EQ(run(seven(), sink.quiet()), 7);
    EXPECT_EQ(run([](host&) { return seven(); }, sink.quiet()), 7);
}

TEST(service, SVC_27_its_error_is_logged_and_the_exit_code_is_1) {
    memory_sink sink;
    EXPECT_EQ(run(failing(), sink.quiet()), 1);
    EXPECT_TRUE(sink.has("roost: the root task ("));
    EXPECT_TRUE(sink.has("service_test.cpp:"));
    EXPECT_TRUE(sink.has(") failed: std::runtime_error: no database"));
    EXPECT_TRUE(sink.has("roost: the root task failed: shutting down"));
}

TEST(service, SVC_27_a_function_that_throws_before_there_is_a_task_is_the_same) {
    memory_sink sink;
    EXPECT_EQ(run([](host&) -> task<> { throw std::runtime_error("at once"); }, sink.quiet()), 1);
    EXPECT_TRUE(sink.has("at once"));
}

TEST(service, SVC_22_the_phases_of_a_clean_end_in_order) {
    memory_sink sink;
    const options o = sink.quiet().total(hours(1)).budget(phase::lame_duck, milliseconds(1));
    const int code = run(
        [](host& h) -> task<> {
            h.shut_down("enough");
            co_await h.stopping();
        },
        o);
    EXPECT_EQ(code, 0);
    lines phases;
    for (const std::string& line : sink.after("roost: phase ")) {
        phases.push_back(line.substr(0, line.find(',')));
    }
    EXPECT_EQ(phases, (lines{"lame duck", "stop intake", "drain", "release", "exit"}));
    EXPECT_TRUE(sink.has("roost: enough: shutting down"));
}

TEST(service, SVC_21_a_lame_duck_is_not_ready_and_still_serves) {
    memory_sink sink;
    bool checked = false;
    const int code = run(
        [&checked](host& h) -> task<> {
            auto& web = h.add("web", component_options().intake());
            h.set_ready();
            EXPECT_TRUE(h.is_ready());
            h.shut_down("look away");
            while (h.phase() == phase::running) {
                co_await sleep_for(milliseconds(1));
            }
            EXPECT_EQ(h.phase(), phase::lame_duck);
            EXPECT_FALSE(h.is_ready());
            EXPECT_TRUE(web.shutdown().state() == shutdown_state::running);
            EXPECT_TRUE(web.shutdown().try_guard().has_value());
            EXPECT_LE(h.remaining(), hours(6));
            checked = true;
            h.cancel("seen enough");
            co_await h.stopping();
        },
        sink.quiet().total(hours(6)).budget(phase::lame_duck, hours(1)));
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(checked);
}

TEST(service, SVC_23_what_was_begun_is_finished) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            auto& web = h.add("web", component_options().intake());
            for (int i = 0; i < 50; ++i) {
                web.launch("request", [](host& at) -> task<> {
                    auto order = at.ledger().accept();
                    co_await sleep_for(milliseconds(5));
                    order.complete();
                }(h));
            }
            co_return;
        },
        sink.quiet().total(hours(1)));
    EXPECT_EQ(code, 0);
    EXPECT_EQ(sink.lines().back(), "ledger: accepted=50 completed=50 failed=0 cancelled=0 abandoned=0 lost=0");
}

TEST(service, SVC_28_cancelled_work_is_in_the_books) {
    memory_sink sink;
    event never("never");
    const int code = run(
        [&never](host& h) -> task<> {
            for (int i = 0; i < 3; ++i) {
                h.main().launch("request", [](host& at, event& e) -> task<> {
                    auto order = at.ledger().accept();
                    co_await e.wait();
                    order.complete();
                }(h, never));
            }
            while (h.ledger().read().accepted() < 3) {
                co_await sleep_for(milliseconds(1));
            }
            h.cancel("not waiting");
            co_await never.wait();
        },
        sink.quiet().total(hours(1)));
    EXPECT_EQ(code, 0);
    EXPECT_EQ(sink.lines().back(), "ledger: accepted=3 completed=0 failed=0 cancelled=3 abandoned=0 lost=0");
}

TEST(service, SVC_40_components_stop_in_reverse_one_after_the_other) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            for (const char* name : {"first", "second", "third"}) {
                component& c = h.add(name);
                c.on_stop([&h, name]() -> task<> {
                    h.log(std::string("begin ") + name);
                    co_await sleep_for(milliseconds(3));
                    h.log(std::string("end ") + name);
                });
            }
            h.add("listener", component_options().intake()).on_stop([&h]() -> task<> {
                h.log("begin listener");
                co_return;
            });
            h.add("pool", component_options().release()).on_stop([&h]() -> task<> {
                h.log("begin pool");
                co_return;
            });
            h.shut_down("done");
            co_await h.stopping();
            h.log("begin main");
        },
        sink.quiet().total(hours(1)));
    EXPECT_EQ(code, 0);
    EXPECT_EQ(sink.after("begin "), (lines{"listener", "third", "second", "first", "main", "pool"}));
    EXPECT_EQ(sink.after("end "), (lines{"third", "second", "first"}));
    EXPECT_LT(sink.text().find("end third"), sink.text().find("begin second"));
}

int run_with_one_that_hangs(memory_sink& sink, duration drain) {
    event never("never");
    return run(
        [&never](host& h) -> task<> {
            h.add("early").on_stop([&h]() -> task<> {
                h.log("early was asked");
                co_return;
            });
            h.add("hangs").launch("stuck", [](event& e) -> task<> { co_await e.wait(); }(never));
            h.shut_down("done");
            co_await h.stopping();
            h.log("main was asked");
        },
        sink.quiet().total(hours(1)).budget(phase::drain, drain));
}

// On a busy machine the whole drain may pass before the others have had a turn. Then a longer one is tried; a
// component that is kept from stopping is so in every one.
TEST(service, SVC_42_a_component_that_hangs_does_not_keep_the_others_from_stopping) {
    bool in_time = false;
    std::string all;
    for (milliseconds drain(150); !in_time && drain < std::chrono::seconds(20); drain *= 8) {
        memory_sink sink;
        EXPECT_EQ(run_with_one_that_hangs(sink, drain), 124);
        const std::string said = sink.text();
        const std::size_t end = said.find("phase cancel");
        EXPECT_NE(end, std::string::npos) << said;
        all += said;
        in_time = said.find("early was asked") < end && said.find("main was asked") < end;
    }
    EXPECT_TRUE(in_time) << all;
}

TEST(service, SVC_101_a_failing_stop_hook_fails_its_component) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            h.add("a").on_stop([]() -> task<> { return failing(); });
            h.add("b").on_stop([]() -> task<> { throw std::runtime_error("no task at all"); });
            co_return;
        },
        sink.quiet());
    EXPECT_EQ(code, exit_code::component_failed);
    EXPECT_TRUE(sink.has("component 'a': job 'stop hook' ("));
    EXPECT_TRUE(sink.has("no database"));
    EXPECT_TRUE(sink.has("no task at all"));
}

TEST(service, SVC_26_resources_outlive_cancelled_work) {
    memory_sink sink;
    event never("never");
    const int code = run(
        [&never](host& h) -> task<> {
            component& pool = h.add("pool", component_options().release());
            pool.launch("keeper", [](roost::shutdown mine, host& at) -> task<> {
                co_await mine.shutting_down();
                at.log(std::string("pool ends in phase ") + std::string(to_string(at.phase())));
            }(pool.shutdown(), h));
            h.cancel("now");
            co_await never.wait();
        },
        sink.quiet().total(hours(1)));
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(sink.has("pool ends in phase release"));
}

TEST(service, SVC_30_one_service_at_a_time) {
    memory_sink sink;
    memory_sink other;
    const int code = run([&other](host&) -> task<int> { co_return run(nothing(), other.quiet()); }, sink.quiet());
    EXPECT_EQ(code, exit_code::bad_options);
    EXPECT_EQ(other.lines(), (lines{"roost: service was not started: another service is running in this process"}));
}

TEST(service, SVC_62_runs_on_an_executor_of_the_users) {
    memory_sink sink;
    runtime mine(runtime_options().workers(1).name("mine"));
    const int code = run(
        [&mine](host& h) -> task<> {
            EXPECT_EQ(h.executor(), executor_ref(mine));
            co_return;
        },
        sink.quiet().on(mine));
    EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace roost::service
