// A deferred that is awaited before its child has begun: the child runs where it is awaited.
#include <roost/runtime/loop.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/deferred.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/tree/visit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;

namespace {

template <class T>
T run(unsigned workers, task<T> t) {
    runtime threads(runtime_options().workers(workers));
    return block_on(threads, std::move(t));
}

task<std::string> say_who() {
    const job me = co_await this_job();
    co_return std::string(me.name());
}
task<std::vector<std::string>> ask_in(scope& s) {
    std::vector<std::string> said;
    auto child = s.async("child", say_who());
    said.push_back(co_await std::move(child));
    const job me = co_await this_job();
    said.emplace_back(me.name());
    co_return said;
}
task<std::vector<std::string>> ask() { co_return co_await with_scope(ask_in); }

TEST(join_here, JOB_71_the_child_is_a_job_of_its_own) {
    for (const unsigned workers : {1U, 2U}) {
        const auto said = run(workers, ask());
        ASSERT_EQ(said.size(), 2U);
        EXPECT_EQ(said[0], "child");
        EXPECT_NE(said[1], "child");
    }
}

task<int> note(std::vector<int>& order, int i) {
    order.push_back(i);
    co_return i;
}
task<> note_all(scope& s, std::vector<int>& order) {
    std::vector<deferred<int>> children;
    for (int i = 0; i < 4; ++i) {
        children.push_back(s.async("child", note(order, i)));
    }
    for (int i = 0; i < 4; ++i) {
        const int got = co_await std::move(children[static_cast<std::size_t>(i)]);
        EXPECT_EQ(got, i);
        EXPECT_EQ(order.size(), 4U) << "siblings that are newer run first";
    }
}
task<> note_four(std::vector<int>& order) { co_await with_scope(note_all, std::ref(order)); }

TEST(join_here, JOB_71_newer_siblings_run_first) {
    std::vector<int> order;
    run(1, note_four(order));
    EXPECT_EQ(order, (std::vector<int>{3, 2, 1, 0}));
}

task<int> wait_first(event& e) {
    co_await e.wait();
    co_return 7;
}
task<> set_later(event& e) {
    co_await yield();
    e.set();
}
task<int> await_waiting(scope& s, event& e) {
    s.launch("setter", set_later(e));
    auto child = s.async("child", wait_first(e));
    co_return co_await std::move(child);
}
task<int> suspends(event& e) { co_return co_await with_scope(await_waiting, std::ref(e)); }

TEST(join_here, JOB_71_a_child_that_suspends_is_waited_for) {
    for (const unsigned workers : {1U, 2U}) {
        event e;
        EXPECT_EQ(run(workers, suspends(e)), 7);
    }
}

task<int> fails() {
    throw std::out_of_range("far");
    co_return 0;
}
task<int> await_failing(scope& s) {
    auto child = s.async("child", fails());
    co_return co_await std::move(child);
}
task<bool> catches() {
    try {
        static_cast<void>(co_await with_scope(await_failing));
    } catch (const std::out_of_range&) {
        co_return true;
    }
    co_return false;
}

TEST(join_here, JOB_71_a_failure_keeps_its_type) { EXPECT_TRUE(run(1, catches())); }

task<int> await_cancelled(scope& s) {
    auto child = s.async("child", say_who());
    child.cancel();
    const std::string who = co_await std::move(child);
    co_return static_cast<int>(who.size());
}
task<bool> sees_cancelled() {
    const outcome<int> o = co_await as_outcome(with_scope(await_cancelled));
    co_return o.is_cancelled();
}

TEST(join_here, JOB_71_a_cancelled_child_does_not_run) { EXPECT_TRUE(run(1, sees_cancelled())); }

task<int> keep_own_handle(job& kept) {
    kept = co_await this_job();
    co_return 3;
}
task<int> await_kept(scope& s, job& kept) {
    auto child = s.async("child", keep_own_handle(kept));
    const int got = co_await std::move(child);
    EXPECT_TRUE(kept.is_finished());
    EXPECT_EQ(kept.state(), job_state::completed);
    co_return got;
}
task<int> keeps(job& kept) { co_return co_await with_scope(await_kept, std::ref(kept)); }

TEST(join_here, JOB_71_a_holder_of_the_child_sees_its_end) {
    job kept;
    EXPECT_EQ(run(1, keeps(kept)), 3);
    EXPECT_EQ(kept.name(), "child");
}

class throws_when_moved {
public:
    throws_when_moved() = default;
    throws_when_moved(throws_when_moved&& other) : moves_(other.moves_ + 1) {
        if (moves_ == 2) {
            throw std::length_error("second move");
        }
    }

private:
    int moves_ = 0;
};
task<throws_when_moved> make_thrower() { co_return throws_when_moved(); }
task<> await_thrower(scope& s) {
    auto child = s.async("child", make_thrower());
    const throws_when_moved got = co_await std::move(child);
    static_cast<void>(got);
}
task<bool> survives_throwing_value() {
    try {
        co_await with_scope(await_thrower);
    } catch (const std::length_error&) {
        co_return true;
    }
    co_return false;
}

TEST(join_here, JOB_71_a_value_that_cannot_be_moved_fails_the_awaiting_body) {
    EXPECT_TRUE(run(1, survives_throwing_value()));
}

task<int> chain(int left);
task<int> chain_in(scope& s, int left) {
    auto child = s.async("link", chain(left - 1));
    co_return co_await std::move(child) + 1;
}
task<int> chain(int left) {
    if (left == 0) {
        co_return 0;
    }
    co_return co_await with_scope(chain_in, left);
}

TEST(join_here, JOB_71_a_chain_takes_a_bounded_stack) { EXPECT_EQ(run(1, chain(20'000)), 20'000); }

task<int> one() { co_return 1; }
task<> set_it(bool& done) {
    done = true;
    co_return;
}
task<int> only_join(scope& s, bool& done) {
    int joined = 0;
    s.launch("older", set_it(done));
    while (!done) {
        auto child = s.async("child", one());
        joined += co_await std::move(child);
    }
    co_return joined;
}
task<int> gives_way(bool& done) { co_return co_await with_scope(only_join, std::ref(done)); }

TEST(join_here, JOB_71_a_body_that_only_joins_gives_way) {
    bool done = false;
    EXPECT_GT(run(1, gives_way(done)), 0);
}

task<unsigned> fork(unsigned n);
task<unsigned> fork_in(scope& s, unsigned n) {
    auto left = s.async("left", fork(n - 1));
    auto middle = s.async("middle", fork(n - 2));
    const unsigned first = co_await std::move(left);
    co_return first + co_await std::move(middle);
}
task<unsigned> fork(unsigned n) {
    if (n < 2) {
        co_return n;
    }
    co_return co_await with_scope(fork_in, n);
}

TEST(join_here, JOB_71_what_another_worker_took_is_waited_for) {
    for (int round = 0; round < 5; ++round) {
        EXPECT_EQ(run(2, fork(15)), 610U);
    }
}

// --- as if the executor had run it -------------------------------------------------------------------------------------

using steady = std::chrono::steady_clock;

task<bool> spin_until(const std::atomic<bool>& done) {
    const auto hang = steady::now() + std::chrono::seconds(10);
    while (!done.load() && steady::now() < hang) {}
    co_return done.load();
}
task<bool> release_sibling(scope& s, std::atomic<bool>& done) {
    auto quick = s.async("quick", one());
    auto busy = s.async("busy", spin_until(done));
    static_cast<void>(co_await std::move(quick));
    done.store(true);
    co_return co_await std::move(busy);
}
task<bool> has_busy_sibling(std::atomic<bool>& done) { co_return co_await with_scope(release_sibling, std::ref(done)); }

TEST(join_here, JOB_71_a_busy_sibling_does_not_hold_up_the_awaiting_body) {
    std::atomic<bool> done{false};
    EXPECT_TRUE(run(2, has_busy_sibling(done)));
}

task<bool> await_that(deferred<bool> d) { co_return co_await std::move(d); }
task<bool> leave_busy(scope& s, std::atomic<bool>& done) {
    auto busy = s.async("busy", spin_until(done)).keep();
    const auto got = co_await move_on_after(std::chrono::milliseconds(1), await_that(std::move(busy)));
    const bool was_early = !done.exchange(true);
    co_return was_early && !got.has_value();
}
task<bool> has_deadline(std::atomic<bool>& done) { co_return co_await with_scope(leave_busy, std::ref(done)); }

TEST(join_here, JOB_71_a_deadline_inside_the_scope_is_not_held_up) {
    std::atomic<bool> done{false};
    const auto begun = steady::now();
    EXPECT_TRUE(run(2, has_deadline(done)));
    EXPECT_LT(steady::now() - begun, std::chrono::seconds(9)) << "the child that nobody waits for any more was waited for";
}

task<int> count_children(scope& s) {
    int seen = 0;
    visit(s.tree_node(), 10, [&](const node_description& d) noexcept { seen += d.target->name() == "child" ? 1 : 0; });
    co_return seen;
}
task<int> look_in_same_expression(scope& s) {
    auto child = s.async("child", one());
    const int left = (static_cast<void>(co_await std::move(child)), co_await count_children(s));
    co_return left;
}
task<int> looks() { co_return co_await with_scope(look_in_same_expression); }

TEST(join_here, JOB_71_the_child_has_ended_when_its_value_is_there) { EXPECT_EQ(run(1, looks()), 0); }

class flag final : public work {
public:
    flag() noexcept : work(+[](work& self) noexcept { static_cast<flag&>(self).is_set = true; }) {}
    bool is_set = false;
};
task<int> join_until(scope& s, const flag& f) {
    int joined = 0;
    while (!f.is_set) {
        auto child = s.async("child", one());
        joined += co_await std::move(child);
    }
    co_return joined;
}
task<> post_and_join(executor_ref on, flag& f, int& joined) {
    on->post_last(f);
    joined = co_await with_scope(join_until, std::cref(f));
}

TEST(join_here, JOB_71_children_count_as_bodies_while_others_are_queued) {
    int joined = 0;
    flag on_runtime;
    runtime threads(runtime_options().workers(1));
    block_on(threads, post_and_join(threads, on_runtime, joined));
    EXPECT_LT(joined, 500) << "a worker";

    flag on_loop;
    loop mine("mine");
    owned_scope root(mine, scope_options("root").report_failures());
    root.launch("joins", post_and_join(mine, on_loop, joined));
    while (mine.poll() != 0) {}
    EXPECT_LT(joined, 500) << "a loop";
    root.request_close();
    while (mine.poll() != 0) {}
}

task<> stop_at(loop& l, time_point at, bool& woken) {
    co_await sleep_until(at);
    woken = true;
    l.stop();
}
task<> join_past(scope& s, time_point at, const bool& woken, int& late) {
    while (!woken) {
        auto child = s.async("child", one());
        const int joined = co_await std::move(child);
        late += now() >= at ? joined : 0;
    }
}
task<> joins_past(time_point at, const bool& woken, int& late) {
    co_await with_scope(join_past, at, std::cref(woken), std::ref(late));
}

TEST(join_here, JOB_71_a_loop_looks_at_its_timers_between_children) {
    loop mine("mine");
    owned_scope root(mine, scope_options("root").report_failures());
    bool woken = false;
    int late = 0;
    const time_point at = now() + std::chrono::milliseconds(5);
    root.launch("timer", stop_at(mine, at, woken));
    root.launch("joins", joins_past(at, woken, late));
    mine.run();
    EXPECT_TRUE(woken);
    EXPECT_LT(late, 1'000);
    root.request_close();
    while (mine.poll() != 0) {}
}

// Hands over whatever is newest, as often as it is asked: nothing but the depth ends a chain on one stack.
class stack_of_work final : public executor {
public:
    bool post(work& w) noexcept override {
        all_.push_front(w);
        return true;
    }
    bool take_next(const work& w) noexcept override {
        work* newest = all_.pop();
        if (newest != nullptr && newest != &w) {
            all_.push_front(*newest);
        }
        return newest == &w;
    }
    [[nodiscard]] bool is_here() const noexcept override { return true; }
    void run() noexcept {
        while (work* w = all_.pop()) {
            w->run();
        }
    }

private:
    work_list all_;
};

TEST(join_here, JOB_71_a_chain_takes_a_bounded_stack_also_where_everything_is_handed_over) {
    stack_of_work here;
    owned_scope root(here, scope_options("root").report_failures());
    auto all = root.async("chain", chain(20'000));
    const job j = all.as_job();
    all.keep();
    root.request_close();
    here.run();
    EXPECT_TRUE(root.is_closed());
    EXPECT_EQ(j.state(), job_state::completed);
}

}  // namespace
