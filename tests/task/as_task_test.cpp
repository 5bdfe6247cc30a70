#include <roost/flow/race.hpp>
#include <roost/flow/retry.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/as_task.hpp>
#include <roost/task/limited_scope.hpp>
#include <roost/task/on.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<int> give(int n) { co_return n; }
task<int> scoped(scope&, int n) { co_return n; }
task<int> wait_then(event& e, int n) {
    co_await e.wait();
    co_return n;
}

static_assert(detail::waitable<event::operation>);
static_assert(detail::waitable<deferred<int>>);
static_assert(detail::waitable<decltype(fail_after(1s, give(1)))>);
static_assert(!detail::waitable<task<int>>, "a task is taken as it is");
static_assert(!detail::waitable<decltype(race(give(1), give(2)))>, "so is a call that makes one");
static_assert(!detail::waitable<int>);
static_assert(!detail::waitable<std::vector<task<int>>>);
static_assert(std::is_same_v<decltype(as_task(give(1))), task<int>>);
static_assert(std::is_same_v<decltype(as_task(std::declval<deferred<std::unique_ptr<int>>>())), task<std::unique_ptr<int>>>);

task<> time_everything(scope& s, event& never, std::vector<int>& got) {
    got.push_back(co_await fail_after(1s, with_scope(scoped, 1)));
    got.push_back(co_await fail_after(1s, s.async("d", give(2))));
    got.push_back(co_await move_on_after(1s, never.wait()) ? -1 : 3);
    got.push_back(co_await shield(1s, fail_after(1s, give(4))));
}
TEST(as_task, TASK_174_waits_scopes_and_deferreds_have_deadlines) {
    rig::stage s;
    event never;
    std::vector<int> got;
    s.play(as_task(with_scope(time_everything, std::ref(never), std::ref(got))));
    s.advance(2s);
    EXPECT_EQ(got, (std::vector<int>{1, 2, 3, 4}));
}

task<> race_everything(scope& s, event& never, std::vector<std::size_t>& won) {
    won.push_back((co_await race(never.wait(), give(1))).index());
    won.push_back((co_await race(s.async("never", wait_then(never, 1)), s.async("soon", give(2)))).index());
    won.push_back((co_await first_success(never.wait(), with_scope(scoped, 1), fail_after(1s, give(3)))).index());
    const auto [a, b] = co_await when_all(fail_after(1s, give(4)), with_scope(scoped, 5));
    won.push_back(static_cast<std::size_t>(a + b));
    std::vector<deferred<int>> many;
    many.push_back(s.async("one", give(6)));
    many.push_back(s.async("two", give(7)));
    const std::vector<int> all = co_await when_all(std::move(many));
    won.push_back(static_cast<std::size_t>(all.at(0) + all.at(1)));
    const auto [x, y] = co_await when_all_settled(never.wait(), give(8));
    won.push_back(static_cast<std::size_t>(y.value()));
}
TEST(as_task, TASK_174_waits_scopes_and_deferreds_race_and_meet) {
    rig::stage s;
    event never;
    std::vector<std::size_t> won;
    s.play(as_task(with_scope(race_everything, std::ref(never), std::ref(won))));
    never.set();
    s.run();
    EXPECT_EQ(won, (std::vector<std::size_t>{1, 1, 1, 9, 13, 8}));
}

TEST(as_task, TASK_174_a_lost_deferred_is_cancelled) {
    rig::stage s;
    event never;
    deferred<int> slow = s.root.async("slow", wait_then(never, 1));
    const job loser = slow.as_job();
    s.play([](deferred<int> d) -> task<> {
        const auto first = co_await race(std::move(d), give(1));
        EXPECT_EQ(first.index(), 1u);
    }(std::move(slow)));
    EXPECT_EQ(loser.state(), job_state::cancelled);
}

TEST(as_task, TASK_174_anything_awaitable_is_launched) {
    rig::stage s;
    event e;
    const job waits = s.root.launch("wait", e.wait());
    const job timed = s.root.launch("timed", fail_after(1s, give(1)));
    s.run();
    EXPECT_EQ(waits.state(), job_state::active);
    EXPECT_EQ(timed.state(), job_state::completed);
    e.set();
    s.run();
    EXPECT_EQ(waits.state(), job_state::completed);
}

task<> try_again(int& calls, int& got) {
    got = co_await retry(backoff(1ms), 3, [&calls] { return fail_after(1s, give(++calls)); });
}
TEST(as_task, TASK_174_callables_may_return_anything_awaitable) {
    rig::stage s;
    int calls = 0;
    int got = 0;
    s.play(try_again(calls, got));
    EXPECT_EQ(got, 1);
}

task<> look_at_lvalue(event& e, bool& passed) {
    auto wait = e.wait();
    co_await as_task(wait);
    passed = true;
}
TEST(as_task, TASK_174_an_lvalue_is_referred_to) {
    rig::stage s;
    event e;
    bool passed = false;
    s.play(look_at_lvalue(e, passed));
    EXPECT_FALSE(passed);
    e.set();
    s.run();
    EXPECT_TRUE(passed);
}

TEST(job, JOB_160_is_observed_and_aborted_by_its_handle) {
    rig::stage s;
    event never;
    const job j = s.play([](event& e) -> task<> { static_cast<void>(co_await shield(duration::max(), e.wait())); }(never));
    const token t = j.observe();
    EXPECT_TRUE(j.cancel());
    s.run();
    EXPECT_TRUE(t.cancel_requested());
    EXPECT_FALSE(j.is_finished()) << "shielded";
    EXPECT_TRUE(j.abort());
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_FALSE(j.abort()) << "it has ended";
    EXPECT_FALSE(job().observe()) << "of no job";
    EXPECT_FALSE(job().abort());
}

}  // namespace
