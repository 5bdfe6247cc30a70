// Children that begin inside the await: order, identity, effects and ends.
#include <roost/flow/detail/group/fork.hpp>
#include <roost/flow/detail/group/fork_call.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/observe/dump.hpp>
#include <roost/observe/job_events.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/others_of.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;

namespace {

template <class T>
T run(unsigned workers, task<T> t) {
    runtime threads(runtime_options().workers(workers));
    return block_on(threads, std::move(t));
}

task<int> note(std::vector<int>& order, int i) {
    order.push_back(i);
    co_return i;
}
task<int> note_and_yield(std::vector<int>& order, int i) {
    order.push_back(i);
    co_await yield();
    co_return i;
}
task<std::vector<int>> five(std::vector<int>& order, bool yielding) {
    std::vector<task<int>> all;
    for (int i = 0; i < 5; ++i) {
        all.push_back(yielding ? note_and_yield(order, i) : note(order, i));
    }
    co_return co_await when_all(std::move(all));
}

TEST(fork, JOB_72_children_begin_from_left_to_right) {
    const std::vector<int> ascending{0, 1, 2, 3, 4};
    for (const bool yielding : {false, true}) {
        std::vector<int> order;
        EXPECT_EQ(run(1, five(order, yielding)), ascending);
        EXPECT_EQ(order, ascending);
        order.clear();
        rig::stage s;
        s.play(five(order, yielding));
        EXPECT_EQ(order, ascending) << "also where nothing can be taken back";
    }
}

task<> never_mind(bool& ran) {
    ran = true;
    co_return;
}
task<> first_is_inside(bool& first, bool& second) { co_await when_all(never_mind(first), never_mind(second)); }

TEST(fork, JOB_72_the_first_begins_inside_the_await) {
    rig::stage s;
    bool first = false;
    bool second = false;
    s.start(first_is_inside(first, second));
    s.executor.run_one();
    EXPECT_TRUE(first);
    EXPECT_FALSE(second);
    s.run();
    EXPECT_TRUE(second);
}

task<std::string> who(bool waits) {
    if (waits) {
        co_await yield();
    }
    const job me = co_await this_job();
    EXPECT_EQ(current_job(), me);
    co_return std::string(me.name());
}
task<> ask_who(std::vector<std::string>& said) {
    const job mine = co_await this_job();
    for (const bool waits : {false, true}) {
        auto [a, b] = co_await when_all(who(waits), who(false));
        said.push_back(a);
        said.push_back(b);
        EXPECT_EQ(current_job(), mine) << "the awaiting job is the current one again";
    }
    auto won = co_await race(who(false), who(false));
    said.push_back(won.value());
    EXPECT_EQ(current_job(), mine);
}

TEST(fork, JOB_72_each_child_is_a_job_of_its_own) {
    for (const unsigned workers : {1U, 2U}) {
        std::vector<std::string> said;
        run(workers, ask_who(said));
        EXPECT_EQ(said, (std::vector<std::string>{"one of all", "one of all", "one of all", "one of all", "alternative"}));
    }
}

task<int> keeps_itself(job& out) {
    out = co_await this_job();
    co_return 1;
}
task<> see_them(job& a, job& b) { co_await when_all(keeps_itself(a), keeps_itself(b)); }

TEST(fork, JOB_73_a_job_that_was_seen_is_used_once) {
    job a;
    job b;
    run(1, see_them(a, b));
    EXPECT_NE(a, b);
    EXPECT_EQ(a.state(), job_state::completed);
    EXPECT_EQ(b.state(), job_state::completed);
}

task<int> cancels_itself() {
    const job me = co_await this_job();
    me.cancel(reason(reason_kind::requested, "mine"));
    co_return 3;  // no checkpoint: it still returns
}
task<bool> was_cancelled() {
    const job me = co_await this_job();
    co_return me.cancel_requested();
}
task<> own_cancel(bool& second, int& first) {
    auto [a, b] = co_await when_all_settled(cancels_itself(), was_cancelled());
    first = a.value();
    second = b.value();
}

TEST(fork, JOB_73_a_cancel_of_one_child_stays_its_own) {
    bool second = true;
    int first = 0;
    run(1, own_cancel(second, first));
    EXPECT_EQ(first, 3);
    EXPECT_FALSE(second);
}

task<int> fails(const char* text) {
    throw std::out_of_range(text);
    co_return 0;
}
task<int> tracks(rig::tracked, int& begun) {
    ++begun;
    co_return 0;
}
task<> fail_first(int& alive, int& begun, std::string& what, int& left) {
    try {
        co_await when_all(fails("early"), tracks(rig::tracked(alive), begun), tracks(rig::tracked(alive), begun));
    } catch (const std::out_of_range& e) {
        what = e.what();
    }
    left = alive;
}

TEST(fork, JOB_73_after_a_failure_no_child_begins) {
    int alive = 0;
    int begun = 0;
    int left = -1;
    std::string what;
    run(1, fail_first(alive, begun, what, left));
    EXPECT_EQ(what, "early");
    EXPECT_EQ(begun, 0);
    EXPECT_EQ(left, 0) << "their frames are gone when the body goes on";
}

task<int> fib(int n) {
    if (n < 2) {
        co_return n;
    }
    auto [a, b] = co_await when_all(fib(n - 1), fib(n - 2));
    co_return a + b;
}
TEST(fork, JOB_74_recursion) {
    EXPECT_EQ(run(1, fib(15)), 610);
    EXPECT_EQ(run(2, fib(18)), 2584);
    rig::stage s;
    const job j = s.play(fib(8));
    EXPECT_EQ(j.state(), job_state::completed);
}

task<int> chain(int n) {
    if (n == 0) {
        co_return 0;
    }
    auto [a, b] = co_await when_all(chain(n - 1), []() -> task<int> { co_return 1; }());
    co_return a + b;
}
TEST(fork, JOB_74_a_hundred_thousand_below_each_other) { EXPECT_EQ(run(1, chain(100'000)), 100'000); }

task<std::string> report_below(detail::node& root) { co_return dump(root); }
task<int> leaf() { co_return 0; }
task<std::string> twice(detail::node& root) {
    co_await when_all(leaf(), leaf());
    co_return co_await report_below(root);
}
task<std::string> report_inside(detail::node& root) {
    auto [text, none] = co_await when_all(twice(root), leaf());
    co_return text;
}

task<std::string> report_of(owned_scope& root) {
    auto d = root.async("outer", report_inside(detail::task_access::core_of(root)));
    co_return co_await std::move(d);
}

TEST(fork, JOB_74_reports_leave_out_what_is_kept) {
    runtime threads(runtime_options().workers(1));
    owned_scope root(threads, scope_options("root").report_failures());
    const std::string text = block_on(threads, report_of(root));
    EXPECT_NE(text.find("job 'one of all'"), std::string::npos) << text;
    EXPECT_EQ(text.find("scope 'when_all'"), text.rfind("scope 'when_all'")) << text;
    root.close_blocking();
}

task<int> slow(duration d) {
    co_await sleep_for(d);
    co_return 1;
}
task<int> sum_of(task<std::tuple<int, int>> t) {
    auto [a, b] = co_await std::move(t);
    co_return a + b;
}
task<> as_tasks(int& got) {
    auto call = when_all(leaf(), slow(1ms));
    got += co_await sum_of(std::move(call));
    auto late = co_await move_on_after(1ms, when_all(slow(1h), slow(1h)));
    got += late ? 100 : 10;
    auto ended = co_await as_outcome(race(fails("one"), slow(1h)));
    got += ended.has_error() ? 1000 : 0;
    std::vector<task<std::tuple<int, int>>> many;
    many.emplace_back(when_all(leaf(), leaf()));
    task<std::tuple<int, int>> last;
    last = when_all(leaf(), slow(1ms));
    many.push_back(std::move(last));
    auto all = co_await when_all(std::move(many));
    got += static_cast<int>(all.size()) * 10'000;
    static_assert(detail::is_task<decltype(when_all(leaf(), leaf()))>);
}

TEST(fork, JOB_75_a_call_is_a_task_where_one_is_wanted) {
    int got = 0;
    run(2, as_tasks(got));
    EXPECT_EQ(got, 21'011);
}

// --- whose reason, whose failure ---------------------------------------------------------------------------------------

task<int> cancelled_twice(job above, job& kept) {
    kept = co_await this_job();
    kept.cancel(reason(reason_kind::requested, "its own"));
    above.cancel(reason(reason_kind::requested, "from above"));
    co_await checkpoint();
    co_return 1;
}
task<> own_reason_below(job& kept) {
    const job me = co_await this_job();
    co_await when_all(cancelled_twice(me, kept), leaf());
}
TEST(fork, JOB_39_a_child_with_a_reason_of_its_own_does_not_give_that_of_all) {
    rig::stage s;
    job kept;
    const job j = s.play(own_reason_below(kept));
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(detail::task_access::core_of(j)->outcome_link().why().text(), "from above");
    EXPECT_EQ(detail::task_access::core_of(kept)->outcome_link().why().text(), "its own");
}

task<int> never_done(event& never) {
    co_await never.wait();
    co_return 1;
}
task<int> waits_for_cancelled(scope& s, event& never, job& kept) {
    auto d = s.async("given up", never_done(never));
    d.cancel(reason(reason_kind::requested, "given up"));
    kept = co_await this_job();
    co_return co_await std::move(d);
}
task<> result_of_cancelled(scope& s, event& never, job& kept) {
    co_await when_all(waits_for_cancelled(s, never, kept), leaf());
}
task<> in_a_scope(event& never, job& kept) { co_await with_scope(result_of_cancelled, std::ref(never), std::ref(kept)); }
TEST(fork, JOB_39_a_child_that_awaits_a_cancelled_job_ends_with_its_reason) {
    rig::stage s;
    event never;
    job kept;
    const job j = s.play(in_a_scope(never, kept));
    EXPECT_EQ(kept.state(), job_state::cancelled);
    EXPECT_EQ(kept.why().text(), "given up");
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().text(), "given up");
}

task<int> ends_later() {
    for (int i = 0; i < 10; ++i) {
        co_await roost::yield();
    }
    co_return 1;
}
task<> races_a_cancelled_one(scope& s, event& never, job& kept) {
    EXPECT_EQ((co_await race(waits_for_cancelled(s, never, kept), ends_later())).index(), 1U);
}
task<> race_in_a_scope(event& never, job& kept) {
    co_await with_scope(races_a_cancelled_one, std::ref(never), std::ref(kept));
}
TEST(fork, JOB_39_in_a_race_that_goes_on_it_ends_with_its_reason_too) {
    rig::stage s;
    event never;
    job kept;
    const job j = s.play(race_in_a_scope(never, kept));
    EXPECT_EQ(kept.state(), job_state::cancelled);
    EXPECT_EQ(kept.why().text(), "given up");
    EXPECT_EQ(j.state(), job_state::completed);
}

task<int> cancels_its_group(reason why) {
    const job me = co_await this_job();
    detail::task_access::core_of(me)->parent()->cancel(std::move(why));
    co_return 1;  // no checkpoint: it still returns
}
task<> two_in_cancelled(reason why, int& begun, int& alive) {
    co_await when_all(cancels_its_group(std::move(why)), tracks(rig::tracked(alive), begun));
}
task<> cancel_group(reason why, int& begun, int& alive, reason& got) {
    auto ended = co_await as_outcome(two_in_cancelled(std::move(why), begun, alive));
    EXPECT_TRUE(ended.is_cancelled());
    got = ended.why();
    EXPECT_EQ(alive, 0);
}
TEST(fork, JOB_73_in_a_group_that_is_cancelled_itself_no_child_begins_and_its_reason_arrives) {
    rig::stage s;
    int begun = 0;
    int alive = 0;
    reason got;
    s.play(cancel_group(reason(reason_kind::requested, "the group"), begun, alive, got));
    EXPECT_EQ(got.text(), "the group");
    s.play(cancel_group(reason(), begun, alive, got));
    EXPECT_EQ(got.kind(), reason_kind::requested) << "some reason, also when none was given";
    EXPECT_EQ(begun, 0);
}

task<> throw_it(std::exception_ptr error) {
    std::rethrow_exception(error);
    co_return;
}
task<int> fails_with(std::exception_ptr error) {
    std::rethrow_exception(error);
    co_return 0;
}
task<int> cleanup_fails_with(std::exception_ptr error) {
    co_await on_exit(throw_it, error);
    co_return 1;
}
task<> settle_one_error(std::exception_ptr error, std::string& what, std::vector<std::exception_ptr>& others) {
    try {
        co_await when_all_settled(fails_with(error), fails("another"), cleanup_fails_with(error));
    } catch (const std::domain_error& e) {
        what = e.what();
        others = others_of(std::current_exception());
    }
}
TEST(fork, JOB_87_a_failure_that_is_also_a_childs_result_is_kept_once) {
    rig::stage s;
    std::string what;
    const auto sink = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    std::vector<std::exception_ptr> others;
    const job j = s.play(settle_one_error(std::make_exception_ptr(std::domain_error("the same")), what, others));
    set_failure_sink(sink);
    EXPECT_EQ(what, "the same");
    ASSERT_EQ(others.size(), 1U);
    EXPECT_EQ(describe(others[0]), "std::out_of_range: another");
    EXPECT_TRUE(j.others().empty());
}

task<int> fails_twice() {
    co_await on_exit(throw_it, std::make_exception_ptr(std::domain_error("cleanup")));
    throw std::out_of_range("body");
}
task<> all_fail(std::string& what, std::vector<std::exception_ptr>& others) {
    try {
        co_await when_all(fails_twice(), leaf());
    } catch (const std::out_of_range& e) {
        what = e.what();
        others = others_of(std::current_exception());
    }
}
TEST(fork, JOB_3_further_failures_of_a_group_are_kept_beside_the_first) {
    rig::stage s;
    std::string what;
    const auto sink = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    std::vector<std::exception_ptr> others;
    const job j = s.play(all_fail(what, others));
    set_failure_sink(sink);
    EXPECT_EQ(what, "body");
    ASSERT_EQ(others.size(), 1U);
    EXPECT_EQ(describe(others[0]), "std::domain_error: cleanup");
    EXPECT_TRUE(j.others().empty());
}

}  // namespace
