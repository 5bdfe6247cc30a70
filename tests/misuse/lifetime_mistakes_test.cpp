// Mistakes about how long things live. Each is named when it happens. docs/guide/mistakes.md lists them.

#include <roost/base/misuse.hpp>
#include <roost/runtime/run.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/shared_mutex.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>

#include "../task/rig.hpp"
#include "heard.hpp"

#include <gtest/gtest.h>

#include <semaphore>
#include <string>

namespace {

using namespace roost;
using misuse_tests::heard;

#if ROOST_CHECKED

task<> nothing() { co_return; }

// --- what dies before the job runs -----------------------------------------------------------------------------------------
task<> reads(const std::string& text) {
    static_cast<void>(text.size());
    co_return;
}
task<> launches_reference(scope& s) {
    s.launch("reader", reads(std::string("a temporary")));
    co_return;
}
task<> launches_owned(scope& s, const std::string& lasting) {
    std::string local = "in the frame";
    const job j = s.launch("reader", reads(local));
    s.launch("reader", reads(lasting));
    co_await j.join();
}
task<> with_reference() { co_await with_scope(launches_reference); }
task<> with_owned(const std::string& lasting) { co_await with_scope(launches_owned, std::cref(lasting)); }

TEST(mistakes, TASK_156_a_launched_task_that_refers_to_a_temporary_is_named) {
    EXPECT_DEATH(
        {
            rig::stage s;
            s.play(with_reference());
        },
        "job 'reader' .*its task refers to a temporary");
    rig::stage s;
    const std::string lasting = "outside";
    EXPECT_EQ(s.play(with_owned(lasting)).state(), job_state::completed);
}

task<> launches_with_limit() { co_await with_scope(scope_options("few").at_most(1), launches_reference); }
TEST(mistakes, TASK_156_also_in_a_scope_with_a_limit) {
    EXPECT_DEATH(
        {
            rig::stage s;
            s.play(launches_with_limit());
        },
        "job 'reader' .*its task refers to a temporary");
}

// A plain function of a job may wait, blocking, for a job elsewhere that refers to its local.
task<> add_one(int& to, std::binary_semaphore& done) {
    ++to;
    done.release();
    co_return;
}
int wait_for_another(scope& elsewhere) {
    int to = 0;
    std::binary_semaphore done(0);
    elsewhere.launch("add", add_one(to, done));
    done.acquire();
    return to;
}
task<int> blocks_for_another(scope& elsewhere) { co_return wait_for_another(elsewhere); }
TEST(mistakes, TASK_156_a_job_elsewhere_may_refer_to_a_local_of_its_blocked_launcher) {
    runtime other(runtime_options().workers(1));
    owned_scope elsewhere(other, "elsewhere");
    EXPECT_EQ(run(blocks_for_another(elsewhere), runtime_options().workers(1)), 1);
    elsewhere.close_blocking();
}

// --- what was given away -----------------------------------------------------------------------------------------------------
TEST(mistakes, SYNC_196_a_guard_or_permit_that_holds_nothing_is_named) {
    const heard h;
    mutex m("accounts");
    shared_mutex table("table");
    semaphore places(1, "places");
    {
        mutex::guard old = m.lock_blocking();
        mutex::guard held = std::move(old);
        shared_mutex::guard writer = table.lock_blocking();
        writer.unlock();
        semaphore::permit permit = places.acquire_blocking(1);
        permit.give_back();
        EXPECT_TRUE(h.is_silent()) << h.text();
        old.unlock();
        writer.unlock();
        permit.give_back();
    }
    EXPECT_TRUE(h.has("mutex guard '': roost::v0::misuse: unlock() of a guard that holds no lock")) << h.text();
    EXPECT_TRUE(h.has("shared_mutex guard '': roost::v0::misuse: unlock() of a guard that holds no lock")) << h.text();
    EXPECT_TRUE(h.has("semaphore permit '': roost::v0::misuse: give_back() of a permit that holds nothing")) << h.text();
    EXPECT_FALSE(m.is_locked());
}

// --- what is used too late -------------------------------------------------------------------------------------------------
scope* kept = nullptr;
task<> keeps_scope(scope& s) {
    kept = &s;
    co_return;
}
task<> launches_late() {
    co_await with_scope(keeps_scope);
    kept->launch("late", nothing());
}
TEST(mistakes, JOB_145_a_scope_that_is_used_after_its_end_is_named) {
    EXPECT_DEATH(
        {
            rig::stage s;
            s.play(launches_late(), "request");
        },
        "scope: it was used after its with_scope had ended; .* .in 'request' .*rig.hpp:");
}

task<> joins_nothing() {
    const job empty;
    co_await empty.join();
}
TEST(mistakes, JOB_144_a_join_of_nothing_is_named) {
    const heard h;
    rig::stage s;
    s.play(joins_nothing(), "waits");
    EXPECT_TRUE(h.has("join() of a job that refers to nothing")) << h.text();
    EXPECT_TRUE(h.has("[in 'waits' (")) << h.text();
}

#ifndef __OPTIMIZE__
task<int> made_by_closure(int v) {
    auto inner = [v]() -> task<int> { co_return v; };
    return inner();
}
task<> awaits_gone_closure() { static_cast<void>(co_await made_by_closure(7)); }
task<int> made_by_value(int v) {
    return [](int x) -> task<int> { co_return x; }(v);
}
task<int> adds_text(const std::string& text, int v) { co_return v + static_cast<int>(text.size()); }
task<> awaits_what_lives(int& sum) {
    sum += co_await made_by_value(7);
    const std::string local = "abc";
    sum += co_await adds_text(local, 1);
    sum += co_await adds_text("a temporary of the expression", 1);
    auto inner = [&sum]() -> task<int> { co_return sum; };
    sum += co_await inner();
}
TEST(mistakes, TASK_157_an_awaited_task_whose_closure_is_gone_is_named) {
    EXPECT_DEATH(
        {
            rig::stage s;
            s.play(awaits_gone_closure(), "sum");
        },
        "job 'sum' .*awaits a task that refers to an object which is gone");
    rig::stage s;
    int sum = 0;
    EXPECT_EQ(s.play(awaits_what_lives(sum)).state(), job_state::completed);
    EXPECT_EQ(sum, 2 * (7 + 4 + 30));
}
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"  // clang warns of the mistake
task<int> no_result(bool flows_off) {
    if (!flows_off) {
        co_return 1;
    }
}
#pragma GCC diagnostic pop
TEST(mistakes, TASK_151_a_task_that_ends_without_its_result_is_named) {
    EXPECT_DEATH(
        {
            rig::stage s;
            s.play(no_result(true), "sum");
        },
        "job 'sum' .*ended without co_return");
    rig::stage s;
    EXPECT_EQ(s.play(no_result(false)).state(), job_state::completed);
}

#endif

task<> launches_closure(scope& s, int v) {
    s.launch("worker", [v]() -> task<> {
        static_cast<void>(v);
        co_return;
    }());
    co_return;
}
[[maybe_unused]] task<> with_closure() { co_await with_scope(launches_closure, 1); }
task<> launches_parameters(scope& s, int v) {
    s.launch("worker", [](int x) -> task<> {
        static_cast<void>(x);
        co_return;
    }(v));
    auto named = [v]() -> task<> {
        static_cast<void>(v);
        co_return;
    };
    const job j = s.launch("named", named());
    co_await j.join();
}
task<> with_parameters() { co_await with_scope(launches_parameters, 1); }

TEST(mistakes, TASK_156_a_closure_that_is_called_on_the_spot_and_launched_is_named) {
#if !defined(__clang__)  // it does not show a closure to the coroutine that it calls
    EXPECT_DEATH(
        {
            rig::stage s;
            s.play(with_closure());
        },
        "job 'worker' .*its task refers to a temporary .a closure with captures");
#endif
    rig::stage s;
    EXPECT_EQ(s.play(with_parameters()).state(), job_state::completed);
}

}  // namespace
