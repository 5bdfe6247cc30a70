#include <roost/flow/when_all.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include "../task/further.hpp"
#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<std::unique_ptr<int>> boxed(int v) { co_return std::make_unique<int>(v); }
task<std::string> after(duration d, std::string text) {
    co_await sleep_for(d);
    co_return text;
}
task<> nothing() { co_return; }
task<int&> refer(int& i) { co_return i; }

task<> values_in_order(int& target, bool& done) {
    auto [box, text, none, ref] = co_await when_all(boxed(7), after(5ms, "late"), nothing(), refer(target));
    EXPECT_EQ(*box, 7);
    EXPECT_EQ(text, "late");
    EXPECT_EQ(none, std::monostate());
    ref.get() = 9;
    done = true;
}

TEST(when_all, JOB_39_gives_the_values_in_order) {
    rig::stage s;
    int target = 0;
    bool done = false;
    s.play(values_in_order(target, done));
    EXPECT_FALSE(done);
    s.advance(5ms);
    EXPECT_TRUE(done);
    EXPECT_EQ(target, 9);
}

task<> of_nothing(bool& done) {
    const std::tuple<> none = co_await when_all();
    static_cast<void>(none);
    auto empty = co_await when_all(std::vector<task<int>>());
    EXPECT_TRUE(empty.empty());
    auto settled = co_await when_all_settled(std::vector<task<int>>());
    EXPECT_TRUE(settled.empty());
    done = true;
}

TEST(when_all, JOB_39_of_nothing_is_there_at_once) {
    rig::stage s;
    bool done = false;
    s.play(of_nothing(done));
    EXPECT_TRUE(done);
}

task<int> fails(event& e) {
    co_await e.wait();
    throw std::out_of_range("no");
}
task<int> waits(event& e, rig::tracked) {
    co_await e.wait();
    co_return 1;
}
task<> fail_fast(event& e, event& never, int& alive, std::string& what) {
    std::vector<task<int>> all;
    all.push_back(waits(never, rig::tracked(alive)));
    all.push_back(fails(e));
    all.push_back(waits(never, rig::tracked(alive)));
    try {
        auto values = co_await when_all(std::move(all));
    } catch (const std::out_of_range& x) {
        what = x.what();
        EXPECT_EQ(alive, 0) << "the others are cancelled and awaited before it is thrown";
    }
}

TEST(when_all, JOB_39_the_first_failure_cancels_the_others_and_is_thrown_with_its_type) {
    rig::stage s;
    event e;
    event never;
    int alive = 0;
    std::string what;
    s.play(fail_fast(e, never, alive, what));
    EXPECT_EQ(alive, 2);
    e.set();
    s.run();
    EXPECT_EQ(what, "no");
    EXPECT_EQ(never.waiters_now(), 0U);
}

task<int> cancelled_by_itself(event& never) {
    const job me = co_await this_job();
    me.cancel(reason(reason_kind::requested, "given up"));
    co_await never.wait();
    co_return 0;
}
task<> needs_all(event& never, int& alive, bool& went_on) {
    const auto both = co_await when_all(cancelled_by_itself(never), waits(never, rig::tracked(alive)));
    static_cast<void>(both);
    went_on = true;
}

TEST(when_all, JOB_39_without_one_result_there_is_none_and_the_awaiting_body_ends_cancelled) {
    rig::stage s;
    event never;
    int alive = 0;
    bool went_on = false;
    const job j = s.play(needs_all(never, alive, went_on));
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().text(), "given up");
    EXPECT_FALSE(went_on);
    EXPECT_EQ(alive, 0);
}

TEST(when_all, JOB_39_cancelling_the_awaiting_job_reaches_all) {
    rig::stage s;
    event e;
    event never;
    int alive = 0;
    std::string what;
    const job j = s.play(fail_fast(e, never, alive, what));
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(what, "");
}

task<> settle(event& e, event& never, bool& done) {
    auto [ok, bad, none] = co_await when_all_settled(boxed(3), fails(e), cancelled_by_itself(never));
    EXPECT_EQ(*ok.value(), 3);
    EXPECT_TRUE(bad.has_error());
    EXPECT_TRUE(none.is_cancelled());
    done = true;
}

TEST(when_all, JOB_40_settled_returns_every_outcome_and_cancels_no_task) {
    rig::stage s;
    event e;
    event never;
    bool done = false;
    s.play(settle(e, never, done));
    EXPECT_FALSE(done);
    e.set();
    s.run();
    EXPECT_TRUE(done);
}

task<> settle_many(std::vector<std::string>& out) {
    std::vector<task<std::string>> all;
    all.push_back(after(2ms, "b"));
    all.push_back(after(1ms, "a"));
    auto ended = co_await when_all_settled(std::move(all));
    for (auto& o : ended) {
        out.push_back(o.value());
    }
}

TEST(when_all, JOB_40_settled_of_a_vector_keeps_the_order) {
    rig::stage s;
    std::vector<std::string> out;
    s.play(settle_many(out));
    s.advance(2ms);
    EXPECT_EQ(out, (std::vector<std::string>{"b", "a"}));
}

task<> waits_for(event& e) { co_await e.wait(); }
task<> settle_cancelled(event& never) {
    auto [bad, none] = co_await when_all_settled(further::fail_twice("error", "its cleanup"), waits_for(never));
    static_cast<void>(bad);
    static_cast<void>(none);
    ADD_FAILURE() << "it was cancelled";
}
task<> settle_with_cleanup(further::texts& got) {
    auto ended = co_await as_outcome(
        when_all_settled(further::fail_twice("error", "its cleanup"), further::return_with("another's")));
    got = further::texts_of(ended.others());
    got.insert(got.begin(), further::text_of(ended.error()));
}

TEST(when_all, JOB_87_the_sink_hears_of_outcomes_that_a_cancelled_job_will_never_see) {
    further::listener sink;
    rig::stage s;
    event never;
    const job j = s.play(settle_cancelled(never));
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(sink.take(), (further::texts{"error", "its cleanup"}));
}

TEST(when_all, JOB_87_outcomes_are_kept_beside_a_cleanup_that_fails_the_group) {
    rig::stage s;
    further::texts got;
    s.play(settle_with_cleanup(got));
    EXPECT_EQ(got, (further::texts{"another's", "error", "its cleanup"}));
}

}  // namespace
