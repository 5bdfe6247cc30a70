#include <roost/base/error.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/deferred.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

using namespace roost;

namespace {

static_assert(!std::is_copy_constructible_v<deferred<int>>);
static_assert(!std::is_aggregate_v<deferred<int>>);

task<std::unique_ptr<int>> compute(int v, event* after = nullptr) {
    if (after != nullptr) {
        co_await after->wait();
    }
    co_return std::make_unique<int>(v);
}
task<int> use_two(scope& s, event& e) {
    auto slow = s.async("slow", compute(40, &e));
    auto fast = s.async("fast", compute(2));
    const auto second = co_await std::move(fast);
    e.set();
    const auto first = co_await std::move(slow);
    co_return *first + *second;
}
task<> run_two(event& e, int& sum) { sum = co_await with_scope(use_two, std::ref(e)); }

TEST(deferred, JOB_9_gives_the_value_ready_or_not) {
    rig::stage s;
    event e;
    int sum = 0;
    s.play(run_two(e, sum));
    EXPECT_EQ(sum, 42);
}

task<int> fails() {
    throw std::out_of_range("far");
    co_return 0;
}
task<> await_failing(scope& s, bool& went_on) {
    auto d = s.async("fails", fails());
    static_cast<void>(co_await std::move(d));
    went_on = true;
}
task<> catch_failing(bool& went_on, std::string& what) {
    try {
        co_await with_scope(await_failing, std::ref(went_on));
    } catch (const std::out_of_range& e) {
        what = e.what();
    }
}

TEST(deferred, JOB_9_a_failing_child_fails_the_scope_and_the_error_is_seen_once) {
    rig::stage s;
    bool went_on = false;
    std::string what;
    const job j = s.play(catch_failing(went_on, what));
    EXPECT_FALSE(went_on);
    EXPECT_EQ(what, "far");
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_TRUE(j.others().empty());
}

task<> await_cancelled(scope& s, event& never, bool& went_on) {
    auto d = s.async("waits", compute(1, &never));
    d.cancel(reason(reason_kind::requested, "not needed"));
    static_cast<void>(co_await std::move(d));
    went_on = true;
}
task<> see_cancelled(event& never, bool& went_on, std::string& why) {
    auto ended = co_await as_outcome(with_scope(await_cancelled, std::ref(never), std::ref(went_on)));
    if (ended.is_cancelled()) {
        why = ended.why().text();
    }
}

TEST(deferred, JOB_9_awaiting_a_cancelled_child_ends_the_awaiting_body_with_its_reason) {
    rig::stage s;
    event never;
    bool went_on = false;
    std::string why;
    s.play(see_cancelled(never, went_on, why));
    EXPECT_FALSE(went_on);
    EXPECT_EQ(why, "not needed");
}

task<> drop_it(scope& s, event& never, job& child, bool keep) {
    {
        auto d = s.async("dropped", compute(1, &never));
        child = d.as_job();
        if (keep) {
            d.keep();
        }
    }
    EXPECT_EQ(child.cancel_requested(), !keep);
    co_await yield();
    never.set();
}
task<> run_drop(event& never, job& child, bool keep) {
    co_await with_scope(drop_it, std::ref(never), std::ref(child), keep);
}

TEST(deferred, JOB_10_dropping_it_requests_cancellation_and_keep_opts_out) {
    rig::stage s;
    event never;
    job child;
    const job j = s.play(run_drop(never, child, false));
    EXPECT_EQ(child.state(), job_state::cancelled);
    EXPECT_EQ(child.why().kind(), reason_kind::dropped);
    EXPECT_EQ(j.state(), job_state::completed) << "the scope waited, and is not failed by it";
    event other;
    s.play(run_drop(other, child, true));
    EXPECT_EQ(child.state(), job_state::completed);
}

task<> assign_over(scope& s, event& never, job& first) {
    auto d = s.async("first", compute(1, &never));
    first = d.as_job();
    d = s.async("second", compute(2));
    const auto got = co_await std::move(d);
    EXPECT_EQ(*got, 2);
}
task<> run_assign(event& never, job& first) { co_await with_scope(assign_over, std::ref(never), std::ref(first)); }

TEST(deferred, JOB_10_assigning_over_it_is_dropping_it) {
    rig::stage s;
    event never;
    job first;
    s.play(run_assign(never, first));
    EXPECT_EQ(first.state(), job_state::cancelled);
}

task<> keep_result(scope& s, std::optional<deferred<std::unique_ptr<int>>>& out) {
    out.emplace(s.async("made", compute(9)));
    co_return;
}
task<> run_keep(std::optional<deferred<std::unique_ptr<int>>>& out, int& got) {
    co_await with_scope(keep_result, std::ref(out));
    const auto value = co_await *std::move(out);
    got = *value;
}

TEST(deferred, JOB_9_the_result_outlives_frame_and_scope) {
    rig::stage s;
    std::optional<deferred<std::unique_ptr<int>>> out;
    int got = 0;
    s.play(run_keep(out, got));
    EXPECT_EQ(got, 9);
}

task<> await_refused(bool& refused) {
    deferred<int> none;
    try {
        static_cast<void>(co_await std::move(none));
    } catch (const error& e) {
        refused = e.kind() == errc::refused;
    }
}

TEST(deferred, JOB_14_awaiting_a_refused_child_is_an_error_value) {
    rig::stage s;
    bool refused = false;
    s.play(await_refused(refused));
    EXPECT_TRUE(refused);
}

task<> cancel_waiter(scope& s, event& never, job& producer) {
    auto d = s.async("producer", compute(1, &never));
    producer = d.as_job();
    static_cast<void>(co_await std::move(d));
}
task<> run_cancel_waiter(event& never, job& producer) {
    co_await with_scope(cancel_waiter, std::ref(never), std::ref(producer));
}

TEST(deferred, JOB_9_cancelling_the_awaiting_job_unlinks_it_and_drops_the_child) {
    rig::stage s;
    event never;
    job producer;
    const job j = s.play(run_cancel_waiter(never, producer));
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(producer.state(), job_state::cancelled);
    EXPECT_EQ(never.waiters_now(), 0U);
}

}  // namespace
