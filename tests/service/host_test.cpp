#include <roost/service/host.hpp>

#include "memory_sink.hpp"

#include <roost/base/error.hpp>
#include <roost/observe/metrics_text.hpp>
#include <roost/service/service.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include <gtest/gtest.h>

namespace roost::service {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(host, SVC_60_ready_is_what_the_root_task_says_until_shutdown_begins) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            EXPECT_FALSE(h.is_ready());
            EXPECT_EQ(h.status(), "running, not ready");
            h.set_ready();
            EXPECT_TRUE(h.is_ready());
            h.set_ready(false);
            EXPECT_FALSE(h.is_ready());
            h.set_ready();
            h.shut_down("over");
            co_await h.stopping();
            EXPECT_FALSE(h.is_ready());
            h.set_ready();
            EXPECT_FALSE(h.is_ready());
        },
        sink.quiet());
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(sink.has("'service' is ready") || sink.has("phase lame duck"));
}

TEST(host, SVC_60_a_root_task_without_a_host_is_ready_at_once) {
    memory_sink sink;
    const auto until_ready = [](memory_sink& s) -> task<> {
        while (!s.has("roost: 'plain' is ready")) {  // or it hangs
            co_await sleep_for(milliseconds(1));
        }
    };
    EXPECT_EQ(run(until_ready(sink), sink.quiet().name("plain")), 0);
    EXPECT_TRUE(sink.has("roost: 'plain' is ready"));
}

TEST(host, OBS_162_a_service_is_shown_in_the_metrics_of_the_process) {
    memory_sink sink;
    const auto shown = [](std::string_view line) {
        return ("\n" + metrics::to_prometheus()).find("\n" + std::string(line) + "\n") != std::string::npos;
    };
    const int code = run(
        [&](host& h) -> task<> {
            EXPECT_TRUE(shown("roost_phase{service=\"shown\",phase=\"running\"} 1"));
            EXPECT_TRUE(shown("roost_phase{service=\"shown\",phase=\"drain\"} 0"));
            EXPECT_TRUE(shown("roost_ready{service=\"shown\"} 0"));
            h.set_ready();
            EXPECT_TRUE(shown("roost_ready{service=\"shown\"} 1"));
            ledger::entry one = h.ledger().accept();
            ledger::entry two = h.ledger().accept();
            one.complete();
            EXPECT_TRUE(shown("roost_ledger_total{service=\"shown\",outcome=\"completed\"} 1"));
            EXPECT_TRUE(shown("roost_ledger_open{service=\"shown\"} 1"));
            two.fail();
            EXPECT_TRUE(shown("roost_ledger_total{service=\"shown\",outcome=\"failed\"} 1"));
            EXPECT_TRUE(shown("roost_guards{node=\"resources\"} 0"));
            co_return;
        },
        sink.quiet().name("shown"));
    EXPECT_EQ(code, 0);
    EXPECT_FALSE(shown("roost_ready{service=\"shown\"} 0"));
}

TEST(host, SVC_61_live_until_set_live_false) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            EXPECT_TRUE(h.is_live());
            h.set_live(false);
            EXPECT_FALSE(h.is_live());
            h.set_live(true);
            EXPECT_TRUE(h.is_live());
            co_return;
        },
        sink.quiet());
    EXPECT_EQ(code, 0);
}

TEST(host, SVC_63_status_report_and_tree_tell_what_goes_on) {
    memory_sink sink;
    event never("never");
    const int code = run(
        [&never](host& h) -> task<> {
            EXPECT_EQ(h.remaining(), duration::max());
            h.main().launch("patient", [](event& e) -> task<> { co_await e.wait(); }(never));
            EXPECT_NE(h.tree().find("job 'patient'"), std::string::npos);
            EXPECT_NE(h.tree().find("'resources'"), std::string::npos);
            h.shut_down("over");
            co_await h.stopping();
            EXPECT_EQ(h.phase(), phase::drain);
            EXPECT_LE(h.remaining(), hours(1));
            while (h.report().total() != 2U) {  // what stopped the components may still be on its way out
                co_await yield();
            }
            EXPECT_NE(h.status().find("drain, 2 outstanding, oldest job '"), std::string::npos) << h.status();
            never.set();
        },
        sink.quiet().total(hours(1)));
    EXPECT_EQ(code, 0);
}

TEST(host, SVC_44_a_component_that_comes_too_late_is_born_stopped) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            h.shut_down("over");
            co_await h.stopping();
            component& late = h.add("late", component_options().intake());
            EXPECT_FALSE(late.shutdown().state() == shutdown_state::running);
            EXPECT_FALSE(late.shutdown().try_guard().has_value());
            component& resource = h.add("still open", component_options().release());
            EXPECT_TRUE(resource.shutdown().state() == shutdown_state::running);
        },
        sink.quiet());
    EXPECT_EQ(code, 0);
}

TEST(host, SVC_42_budgets_of_components_have_to_fit_in_the_phase) {
    memory_sink sink;
    const int code = run(
        [](host& h) -> task<> {
            static_cast<void>(h.add("a", component_options().budget(milliseconds(600))));
            try {
                static_cast<void>(h.add("b", component_options().budget(milliseconds(600))));
                ADD_FAILURE() << "it was taken";
            } catch (const error& e) {
                EXPECT_EQ(e.kind(), errc::refused);
                EXPECT_NE(
                    std::string(e.what()).find("component 'b': its budget of 600 ms makes 1.2 s for phase drain, which "
                                               "has 1 s"),
                    std::string::npos)
                    << e.what();
            }
            co_return;
        },
        sink.quiet().total(hours(1)).budget(phase::drain, std::chrono::seconds(1)));
    EXPECT_EQ(code, 0);
}

TEST(host, SVC_80_the_program_logs_to_the_same_sink) {
    memory_sink sink;
    run(
        [](host& h) -> task<> {
            h.log("hello");
            h.log(severity::error, "ouch");
            co_return;
        },
        sink.quiet());
    EXPECT_TRUE(sink.has("hello\n"));
    EXPECT_TRUE(sink.has("ouch\n"));
}

}  // namespace
}  // namespace roost::service
