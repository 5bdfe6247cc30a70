// Destructors that throw in frames that are destroyed, and deep chains of frames that never ran.
// Long because every way in which a frame is destroyed is tried with the same throwing locals.
#include <roost/flow/race.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/frame/burial.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "further.hpp"
#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

using namespace roost;
using namespace std::chrono_literals;
using further::texts;
using further::texts_of;

namespace {

class bad {
public:
    explicit bad(bool throws, const char* text = "destructor") : text_(throws ? text : nullptr) {}
    bad(bad&& other) noexcept : text_(std::exchange(other.text_, nullptr)) {}
    bad& operator=(bad&&) = delete;
    ~bad() noexcept(false) {
        if (text_ != nullptr) {
            throw std::runtime_error(text_);
        }
    }

private:
    const char* text_;
};

// A chain of frames, of which some have a local that throws.
class plan {
public:
    int depth = 0;
    unsigned throwing = 0;  // a bit for each frame, the outermost is bit 0
    int alive = 0;
};
task<int> chain(plan& p, int at, event& never) {
    const rig::tracked outer(p.alive);
    bad b((p.throwing >> at & 1U) != 0);
    const rig::tracked inner(p.alive);
    if (at + 1 < p.depth) {
        co_return co_await chain(p, at + 1, never);
    }
    co_await never.wait();
    co_return 0;
}

TEST(burial, TASK_100_a_destructor_that_throws_is_contained_in_every_frame) {
    for (int depth = 1; depth <= 4; ++depth) {
        for (unsigned throwing = 0; throwing < 1U << depth; ++throwing) {
            SCOPED_TRACE(std::to_string(depth) + " frames, throwing " + std::to_string(throwing));
            further::listener sink;
            rig::stage s;
            event never;
            plan p;
            p.depth = depth;
            p.throwing = throwing;
            const job j = s.play(chain(p, 0, never));
            EXPECT_EQ(p.alive, 2 * depth);
            j.cancel();
            s.run();
            EXPECT_EQ(j.state(), job_state::cancelled);
            EXPECT_EQ(p.alive, 0) << "every other local is destroyed";
            EXPECT_EQ(j.others().size(), static_cast<std::size_t>(__builtin_popcount(throwing)));
            EXPECT_EQ(sink.take().size(), j.others().size()) << "nothing is above a root";
            EXPECT_EQ(never.waiters_now(), 0U);
        }
    }
}

// Whatever stands between the frames.
enum class between { scope, deadline, group, outcome, exit_action };
task<> below(plan& p, event& never) { static_cast<void>(co_await chain(p, 0, never)); }
task<> scope_body(scope&, plan& p, event& never) { return below(p, never); }
task<> noted(int& exits) {
    ++exits;
    co_return;
}
task<> across(between what, plan& p, event& never, int& exits) {
    bad local(what != between::group, "above");  // there a child's cleanup has failed the group, and that is on its way
    switch (what) {
        case between::scope: co_await with_scope(scope_body, std::ref(p), std::ref(never)); break;
        case between::deadline: co_await fail_after(1h, below(p, never)); break;
        case between::group: static_cast<void>(co_await when_all(below(p, never), below(p, never))); break;
        case between::outcome: static_cast<void>(co_await as_outcome(below(p, never))); break;
        case between::exit_action:
            co_await on_exit(noted, std::ref(exits));
            co_await below(p, never);
            break;
    }
}
TEST(burial, TASK_100_also_below_and_above_scopes_deadlines_groups_and_exit_actions) {
    for (const between what : {between::scope, between::deadline, between::group, between::outcome, between::exit_action}) {
        SCOPED_TRACE(static_cast<int>(what));
        further::listener sink;
        rig::stage s;
        event never;
        plan p;
        p.depth = 2;
        p.throwing = 3;
        int exits = 0;
        const job j = s.play(across(what, p, never, exits));
        j.cancel();
        s.run();
        EXPECT_TRUE(j.is_finished());
        EXPECT_EQ(p.alive, 0);
        EXPECT_EQ(never.waiters_now(), 0U);
        EXPECT_EQ(exits, what == between::exit_action ? 1 : 0);
        const texts heard = sink.take();
        EXPECT_EQ(heard.size(), what == between::group ? 4U : 3U);
    }
}

task<int> catches_and_returns(event& never) {
    try {
        bad b(true);
        co_await never.wait();
    } catch (const std::runtime_error&) {
        co_return 7;
    }
    co_return 1;
}
task<int> catches_and_awaits(event& never, int& reached) {
    try {
        bad b(true);
        co_await never.wait();
    } catch (const std::runtime_error&) {
        ++reached;
    }
    bad second(true, "second");
    co_await yield();
    ++reached;
    co_return 1;
}
task<> take(task<int> t, int& got) { got = co_await std::move(t); }

TEST(burial, TASK_100_a_frame_that_catches_it_and_returns_has_returned) {
    for (const bool nested : {false, true}) {
        further::listener sink;
        rig::stage s;
        event never;
        int got = 0;
        const job j = nested ? s.play(take(catches_and_returns(never), got)) : s.play(catches_and_returns(never));
        j.cancel();
        s.run();
        EXPECT_EQ(j.state(), job_state::completed);
        EXPECT_EQ(got, nested ? 7 : 0);
        EXPECT_EQ(sink.take(), texts());
    }
}

TEST(burial, TASK_100_a_frame_that_catches_it_ends_at_its_next_await) {
    for (const bool nested : {false, true}) {
        further::listener sink;
        rig::stage s;
        event never;
        int got = 0;
        int reached = 0;
        const job j =
            nested ? s.play(take(catches_and_awaits(never, reached), got)) : s.play(catches_and_awaits(never, reached));
        j.cancel();
        s.run();
        EXPECT_EQ(j.state(), job_state::cancelled);
        EXPECT_EQ(reached, 1);
        EXPECT_EQ(sink.take(), texts{"second"});
    }
}

generator<int> numbers(int& alive) {
    const rig::tracked outer(alive);
    bad b(true, "generator");
    const rig::tracked inner(alive);
    for (int i = 0;; ++i) {
        co_yield i;
    }
}
task<> ask_once(int& alive, int& got) {
    {
        auto all = numbers(alive);
        const int* first = co_await all.next();
        got = first == nullptr ? -1 : *first + 1;
    }
    co_await yield();
}
TEST(burial, TASK_100_a_generator_that_is_left_half_way_may_throw_too) {
    further::listener sink;
    rig::stage s;
    int alive = 0;
    int got = 0;
    const job j = s.play(ask_once(alive, got));
    EXPECT_EQ(got, 1);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_EQ(texts_of(j.others()), texts{"generator"});
}

// The region of the frame is not cancelled: what it awaited was.
task<int> sleeps_long() {
    co_await sleep_for(1h);
    co_return 1;
}
task<> noted_exit(int& exits) {
    ++exits;
    co_return;
}
enum class then { sleeps, enters_shield, yields, registers_exit, returns };
task<> awaits_cancelled(deferred<int> d, then next, int& alive, int& went_on, int& exits) {
    try {
        bad b(true);
        static_cast<void>(co_await std::move(d));
    } catch (const std::runtime_error&) {
        ++went_on;
    }
    const rig::tracked late(alive);
    switch (next) {
        case then::sleeps: co_await sleep_for(50ms); break;
        case then::enters_shield: co_await shield(1s, noted_exit(went_on)); break;
        case then::yields: co_await yield(); break;
        case then::registers_exit:
            co_await on_exit(noted_exit, std::ref(exits));
            co_await yield();
            break;
        case then::returns: {
            const job me = co_await this_job();
            EXPECT_EQ(me.name(), "job");
            const token t = co_await this_token();
            EXPECT_FALSE(t.is_cancelled()) << "where the frame was";
            co_return;
        }
    }
    went_on += 100;
}
task<> cancels_and_awaits(scope& s, then next, int& alive, int& went_on, int& exits) {
    const rig::tracked local(alive);
    auto d = s.async("child", sleeps_long());
    d.cancel();
    co_await awaits_cancelled(std::move(d), next, alive, went_on, exits);
    went_on += 10;
}
task<> sees_outcome(then next, int& alive, int& went_on, int& exits, bool& cancelled) {
    const auto how =
        co_await as_outcome(with_scope(cancels_and_awaits, next, std::ref(alive), std::ref(went_on), std::ref(exits)));
    cancelled = how.is_cancelled();
    co_await sleep_for(1ms);
}
TEST(burial, TASK_100_no_await_begins_in_such_a_frame_when_its_region_is_not_cancelled) {
    for (const then next : {then::sleeps, then::enters_shield, then::yields, then::registers_exit, then::returns}) {
        SCOPED_TRACE(static_cast<int>(next));
        further::listener sink;
        rig::stage s;
        int alive = 0;
        int went_on = 0;
        int exits = 0;
        bool cancelled = false;
        const job j = s.play(sees_outcome(next, alive, went_on, exits, cancelled));
        s.executor.advance(1ms);
        EXPECT_EQ(j.state(), job_state::completed);
        EXPECT_EQ(cancelled, next != then::returns);
        EXPECT_EQ(went_on, next == then::returns ? 11 : 1);
        EXPECT_EQ(exits, next == then::registers_exit ? 1 : 0);
        EXPECT_EQ(alive, 0);
        s.executor.advance(1h);
    }
}

task<> catches_then(then next, event& never, int& went_on, int& exits) {
    try {
        bad b(true);
        co_await never.wait();
    } catch (const std::runtime_error&) {
        ++went_on;
    }
    if (next == then::registers_exit) {
        co_await on_exit(noted_exit, std::ref(exits));
    } else {
        co_await shield(1s, noted_exit(went_on));
        went_on += 100;
    }
}
TEST(burial, TASK_100_nor_a_shield_when_it_is_and_an_exit_action_runs) {
    for (const then next : {then::enters_shield, then::registers_exit}) {
        further::listener sink;
        rig::stage s;
        event never;
        int went_on = 0;
        int exits = 0;
        const job j = s.play(catches_then(next, never, went_on, exits));
        j.cancel();
        s.run();
        EXPECT_TRUE(j.is_finished());
        EXPECT_EQ(went_on, 1);
        EXPECT_EQ(exits, next == then::registers_exit ? 1 : 0);
    }
}

generator<int> catches_and_yields(int& alive, int& went_on) {
    try {
        bad b(true);
        co_yield 1;
    } catch (const std::runtime_error&) {
        ++went_on;
    }
    const rig::tracked late(alive);
    co_yield 2;
    went_on += 100;
}
task<> ask_once_of(generator<int>& all, int& got) {
    const int* first = co_await all.next();
    got = first == nullptr ? -1 : *first;
}
TEST(burial, TASK_100_a_generator_that_catches_it_ends_at_its_next_yield_in_a_job_or_in_none) {
    for (const bool in_job : {false, true}) {
        further::listener sink;
        int alive = 0;
        int went_on = 0;
        int got = 0;
        {
            rig::stage s;
            generator<int> all = catches_and_yields(alive, went_on);
            const job j = s.play(as_task(fail_after(1s, ask_once_of(all, got))));
            EXPECT_EQ(j.state(), job_state::completed);
            EXPECT_EQ(got, 1);
            if (in_job) {
                s.play([](generator<int> dropped) -> task<> {
                    { const generator<int> mine = std::move(dropped); }
                    co_await yield();
                }(std::move(all)));
            }
        }
        EXPECT_EQ(went_on, 1);
        EXPECT_EQ(alive, 0);
        EXPECT_EQ(sink.take(), texts()) << "it caught what was thrown";
    }
}

task<> with_argument(bad, rig::tracked) { co_return; }
TEST(burial, TASK_100_an_argument_of_a_task_that_never_ran_may_throw_too) {
    further::listener sink;
    int alive = 0;
    {
        const task<> dropped = with_argument(bad(true, "argument"), rig::tracked(alive));
        EXPECT_EQ(alive, 1);
    }
    const texts told = sink.take();
    EXPECT_EQ(told.size(), ROOST_CHECKED != 0 ? 2U : 1U) << "a checked build also says that it never ran";
    EXPECT_EQ(told.back(), "argument");
}

// --- deep chains of what never ran ---------------------------------------------------------------------------------------

task<> leaf(rig::tracked) { co_return; }
task<> nest(task<> inner, rig::tracked) { co_await std::move(inner); }
task<> nested(int depth, int& alive) {
    task<> t = leaf(rig::tracked(alive));
    for (int i = 0; i < depth; ++i) {
        t = nest(std::move(t), rig::tracked(alive));
    }
    return t;
}
constexpr int deep = 1'000'000;

TEST(burial, TASK_101_a_million_unstarted_tasks_inside_each_other_are_dropped_without_stack) {
    int alive = 0;
    {
        const task<> t = nested(deep, alive);
        EXPECT_EQ(alive, deep + 1);
    }
    EXPECT_EQ(alive, 0);
    {
        task<> t = nested(1000, alive);
        t = task<>();
        EXPECT_EQ(alive, 0) << "when the assignment returns";
    }
}

TEST(burial, TASK_101_also_when_the_first_of_them_is_launched_in_a_cancelled_scope_or_loses) {
    int alive = 0;
    {
        rig::stage s;
        const job j = s.start(nested(deep / 10, alive));
        j.cancel();
        s.run();
        EXPECT_EQ(j.state(), job_state::cancelled);
        EXPECT_EQ(alive, 0);
        s.root.cancel();
        s.play(nested(deep / 10, alive));
        EXPECT_EQ(alive, 0);
    }
}

generator<int> one_number(rig::tracked) { co_yield 1; }
generator<int> wrapped(generator<int> inner, rig::tracked) {
    while (int* v = co_await inner.next()) {
        co_yield *v;
    }
}
generator<int> wrapped(int depth, int& alive) {
    generator<int> g = one_number(rig::tracked(alive));
    for (int i = 0; i < depth; ++i) {
        g = wrapped(std::move(g), rig::tracked(alive));
    }
    return g;
}
TEST(burial, TASK_101_generators_inside_each_other_are_dropped_without_stack_asked_or_not) {
    int alive = 0;
    { const generator<int> never_asked = wrapped(deep, alive); }
    EXPECT_EQ(alive, 0);
    rig::stage s;
    int got = 0;
    generator<int> asked = wrapped(deep / 10, alive);
    s.play(ask_once_of(asked, got));
    EXPECT_EQ(got, 1);
    EXPECT_EQ(alive, deep / 10 + 1);
    asked = generator<int>();
    EXPECT_EQ(alive, 0) << "when the assignment returns";
}

// The order of the language: the last argument first, and a task with all that it holds.
class order {
public:
    explicit order(texts& log, const char* name) : log_(&log), name_(name) {}
    order(order&& other) noexcept : log_(std::exchange(other.log_, nullptr)), name_(other.name_) {}
    order& operator=(order&&) = delete;
    ~order() {
        if (log_ != nullptr) {
            log_->emplace_back(name_);
        }
    }

private:
    texts* log_;
    const char* name_;
};
task<> holds(order) { co_return; }
task<> holds_both(order, task<>, order) { co_return; }
TEST(burial, TASK_101_a_task_goes_before_the_arguments_in_front_of_it) {
    texts log;
    { const task<> t = holds_both(order(log, "first"), holds(order(log, "inner")), order(log, "last")); }
    ASSERT_EQ(log.size(), 3U);
    const bool reversed = log.front() == "last";
    EXPECT_EQ(log, (reversed ? texts{"last", "inner", "first"} : texts{"first", "inner", "last"}));
}

}  // namespace
