#include <roost/base/error.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/launch_started.hpp>
#include <roost/task/others_of.hpp>

#include "further.hpp"
#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace roost;
using further::texts;

namespace {

task<> serve(started<int> ready, event& go_on, int port) {
    ready(port + 1);
    co_await go_on.wait();
}
task<> fail_first(started<int>) {
    throw std::invalid_argument("no port");
    co_return;
}
task<> fail_later(started<> ready, event& go_on) {
    ready();
    co_await go_on.wait();
    throw std::invalid_argument("later");
}
task<> never_ready(started<>) { co_return; }
task<> wait_first(started<> ready, event& e, int& destroyed) {
    const rig::tracked here(destroyed);
    co_await e.wait();
    ready();
}
task<> ready_twice(started<> ready) {
    ready();
    ready();
    co_return;
}

task<> ask_for_port(scope& s, event& go_on, int& port) {
    port = co_await launch_started<int>(s, "server", serve, std::ref(go_on), 79);
}
TEST(launch_started, TASK_170_returns_when_the_child_is_ready_and_the_child_goes_on) {
    rig::stage s;
    event go_on;
    int port = 0;
    const job outer = s.play(as_task(with_scope(ask_for_port, std::ref(go_on), std::ref(port))));
    EXPECT_EQ(port, 80);
    EXPECT_FALSE(outer.is_finished()) << "the scope waits for the child as for any other";
    go_on.set();
    s.run();
    EXPECT_EQ(outer.state(), job_state::completed);
}

task<> see_failure(scope& s, std::string& what) {
    try {
        static_cast<void>(co_await launch_started<int>(s, "server", fail_first));
    } catch (const std::invalid_argument& e) {
        what = e.what();
    }
}
TEST(launch_started, TASK_171_a_failure_before_is_the_callers_and_fails_no_scope) {
    rig::stage s;
    std::string what;
    const job outer = s.play(as_task(with_scope(see_failure, std::ref(what))));
    EXPECT_EQ(what, "no port");
    EXPECT_EQ(outer.state(), job_state::completed);
}

task<> fail_now(const char* text) {
    throw std::runtime_error(text);
    co_return;
}
task<> two_fail(scope& s) {
    s.launch("a", fail_now("A"));
    s.launch("b", fail_now("B"), start::always);
    co_return;
}
task<> starts_two(started<int> ready, bool is_ready_first) {
    if (is_ready_first) {
        ready(1);
    }
    co_await with_scope(two_fail);
}
task<> see_others(scope& s, texts& what) {
    try {
        static_cast<void>(co_await launch_started<int>(s, "server", starts_two, false));
    } catch (const std::runtime_error& e) {
        what = further::texts_of(others_of(std::current_exception()));
        what.insert(what.begin(), e.what());
    }
}
TEST(launch_started, TASK_171_what_failed_beside_it_travels_with_it) {
    rig::stage s;
    texts what;
    s.play(as_task(with_scope(see_others, std::ref(what))));
    EXPECT_EQ(what, (texts{"A", "B"}));
}
task<> start_two(scope& s) { static_cast<void>(co_await launch_started<int>(s, "server", starts_two, true)); }
TEST(launch_started, TASK_171_also_to_the_scope_afterwards) {
    rig::stage s;
    further::listener sink;
    const job outer = s.play(as_task(with_scope(start_two)));
    EXPECT_EQ(outer.state(), job_state::failed);
    EXPECT_EQ(further::texts_of(outer.others()), texts{"B"});
}

task<> fail_when_cancelled(started<> ready, event& e) {
    const auto guard = co_await ignore_cancellation();
    co_await e.wait();
    throw std::runtime_error("unheard");
    ready();
}
task<> start_in_root(scope& s, event& e) { co_await launch_started(s, "late", fail_when_cancelled, std::ref(e)); }
TEST(launch_started, TASK_171_without_a_caller_it_goes_to_the_sink) {
    further::listener sink;
    rig::stage s;
    event e;
    const job caller = s.play(start_in_root(s.root, e));
    caller.cancel();
    s.run();
    e.set();
    s.run();
    EXPECT_EQ(sink.take(), texts{"unheard"});
}
std::string not_started;
TEST(launch_started, TASK_171_the_sink_receives_the_name_and_the_site_of_the_child) {
    not_started.clear();
    const auto before =
        set_failure_sink(+[](std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept {
            not_started = std::string(what) + " '" + std::string(name) + "': " + describe(error);
            EXPECT_NE(made_at.to_string().find("launch_started_test.cpp:"), std::string::npos);
        });
    rig::stage s;
    event e;
    const job caller = s.play(start_in_root(s.root, e));
    caller.cancel();
    s.run();
    e.set();
    s.run();
    set_failure_sink(before);
    EXPECT_EQ(not_started, "job 'late': std::runtime_error: unheard");
}

task<> passes_on(started<int> ready, started<int>& to) {
    to = std::move(ready);
    co_return;
}
task<> see_passed_on(scope& s, started<int>& to, bool& dropped) {
    try {
        static_cast<void>(co_await launch_started<int>(s, "server", passes_on, std::ref(to)));
    } catch (const error& e) {
        dropped = e.kind() == errc::promise_dropped;
    }
}
TEST(launch_started, TASK_173_a_call_after_the_child_has_ended_does_nothing) {
    rig::stage s;
    started<int> late(nullptr);
    bool dropped = false;
    const job outer = s.play(as_task(with_scope(see_passed_on, std::ref(late), std::ref(dropped))));
    EXPECT_TRUE(dropped);
    late(1);
    EXPECT_EQ(outer.state(), job_state::completed);
}

task<> start_failing(scope& s, event& go_on) { co_await launch_started(s, "server", fail_later, std::ref(go_on)); }
TEST(launch_started, TASK_171_a_failure_afterwards_is_the_scopes) {
    rig::stage s;
    event go_on;
    const job outer = s.play(as_task(with_scope(start_failing, std::ref(go_on))));
    EXPECT_FALSE(outer.is_finished());
    go_on.set();
    s.run();
    EXPECT_EQ(outer.state(), job_state::failed);
}

task<> see_nothing(scope& s, std::string& what) {
    try {
        co_await launch_started(s, "mute", never_ready);
    } catch (const error& e) {
        what = e.kind() == errc::promise_dropped ? e.what() : "another error";
    }
}
TEST(launch_started, TASK_172_a_child_that_ends_without_being_ready_is_named) {
    rig::stage s;
    std::string what;
    s.play(as_task(with_scope(see_nothing, std::ref(what))));
    EXPECT_NE(what.find("job 'mute' ("), std::string::npos) << what;
    EXPECT_NE(what.find("launch_started_test.cpp"), std::string::npos) << what;
    EXPECT_NE(what.find("never called started()"), std::string::npos) << what;
}

task<> start_waiting(scope& s, event& e, int& alive) {
    co_await launch_started(s, "slow", wait_first, std::ref(e), std::ref(alive));
}
TEST(launch_started, TASK_172_a_cancelled_caller_takes_the_child_along) {
    rig::stage s;
    event never;
    int alive = 0;
    const job outer = s.play(as_task(with_scope(start_waiting, std::ref(never), std::ref(alive))));
    EXPECT_EQ(alive, 1);
    outer.cancel();
    s.run();
    EXPECT_EQ(outer.state(), job_state::cancelled);
    EXPECT_EQ(alive, 0);
}

// Only the waiting job is cancelled; the child lives in a scope that goes on.
task<> start_in(scope& s, event& e, int& alive) {
    co_await launch_started(s, "slow", wait_first, std::ref(e), std::ref(alive));
}
TEST(launch_started, TASK_172_a_caller_in_another_scope_takes_it_along_too) {
    rig::stage s;
    event never;
    int alive = 0;
    const job caller = s.play(start_in(s.root, never, alive));
    EXPECT_EQ(alive, 1);
    caller.cancel();
    s.run();
    EXPECT_EQ(alive, 0);
}

TEST(launch_started, TASK_172_a_closed_scope_is_an_error) {
    rig::stage s;
    std::string what;
    {
        owned_scope closed(s.executor, scope_options("closed").report_failures());
        closed.request_close();
        s.run();
        const job j = s.play([](scope& in, std::string& out) -> task<> {
            try {
                co_await launch_started(in, "late", never_ready);
            } catch (const error& e) {
                out = e.what();
            }
        }(closed, what));
        EXPECT_TRUE(j.is_finished());
    }
    EXPECT_NE(what.find("job 'late'"), std::string::npos) << what;
    EXPECT_NE(what.find("its scope is closed"), std::string::npos) << what;
}

task<> start_twice(scope& s) { co_await launch_started(s, "eager", ready_twice); }
TEST(launch_started_death, TASK_173_ready_twice_ends_the_program) {
    EXPECT_DEATH(
        {
            rig::stage s;
            s.play(as_task(with_scope(start_twice)));
        },
        "started: it was called a second time");
}

}  // namespace
