// The Nth call into user code throws, for N = 0, 1, 2, ... until nothing is left to throw: bodies, callables, cleanups,
// copies and moves of arguments and results. Whatever it hits, the job ends, nothing of the user's is lost or destroyed
// twice, and the scope can be used again.
#include <roost/flow/coalescer.hpp>
#include <roost/flow/map_concurrent.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/retry.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/job_local.hpp>
#include <roost/task/on.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shared_deferred.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/with_note.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/external_resource.hpp>

#include "rig.hpp"
#include "throwing_thing.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace roost;
using namespace roost::ext;
using namespace std::chrono_literals;

using throwing::alive;
using throwing::call;
using throwing::calls_left;
using throwing::thing;
using throwing::thrown;

task<thing> echo(thing in) {
    call();
    co_await yield();
    call();
    co_return in;
}
task<> consume(thing in) {
    call();
    co_await yield();
    static_cast<void>(in);
}

task<> awaits() {
    const thing got = co_await echo(thing(1));
    static_cast<void>(got);
    const auto as_data = co_await as_outcome(echo(thing(2)));
    static_cast<void>(as_data);
    const thing traced = co_await with_note("note", echo(thing(3)));
    static_cast<void>(traced);
}
task<thing> children(scope& s, thing in) {
    call();
    auto one = s.async("one", echo(in));
    s.launch("two", consume(in));
    call();
    co_return co_await std::move(one);
}
task<> scopes() {
    const thing got = co_await with_scope(children, thing(1));
    static_cast<void>(got);
}
task<> deadlines() {
    const thing got = co_await fail_after(1h, echo(thing(1)));
    static_cast<void>(got);
    const auto maybe = co_await move_on_after(1h, echo(thing(2)));
    static_cast<void>(maybe);
    const thing kept = co_await shield(1h, echo(thing(3)));
    static_cast<void>(kept);
}
task<> cleanup(thing t) { co_await consume(std::move(t)); }
task<> exits() {
    co_await on_exit(cleanup, thing(1));
    co_await on_exit(cleanup, thing(2));
    co_await consume(thing(3));
}
task<> combinations() {
    auto both = co_await when_all(echo(thing(1)), echo(thing(2)));
    static_cast<void>(both);
    const auto settled = co_await when_all_settled(echo(thing(1)), echo(thing(2)));
    static_cast<void>(settled);
    const auto first = co_await race(echo(thing(3)), echo(thing(4)));
    static_cast<void>(first);
    const auto best = co_await first_success(echo(thing(5)), echo(thing(6)));
    static_cast<void>(best);
}
task<int> square(int n) {
    const thing t = co_await echo(thing(n));
    co_return t.value* t.value;
}
task<> ranges() {
    std::vector<int> numbers{1, 2, 3};
    const auto all = co_await map_concurrent(std::move(numbers), 2, square);
    static_cast<void>(all);
    const thing again = co_await retry(backoff(1ms), 3, echo, thing(1));
    static_cast<void>(again);
}
task<> supervised_children(supervisor& s, thing in) {
    call();
    s.launch("one", consume, in);
    co_return;
}
task<> supervises() { static_cast<void>(co_await supervise(on_failure::ignore(), supervised_children, thing(1))); }
generator<thing> count() {
    for (int i = 0; i < 3; ++i) {
        call();
        co_yield thing(i);
    }
}
task<> generates() {
    auto numbers = count();
    while (true) {
        thing* next = co_await numbers.next();
        if (next == nullptr) {
            break;
        }
        co_await consume(*next);
    }
}
task<> externals_in(scope& s) {
    auto made = make_promise<thing>(s, "external", external_cancel::abandon);
    made.second.set_value(1);
    const thing got = co_await std::move(made.first);
    static_cast<void>(got);
    const shared_deferred<thing> shared(s.async("shared", echo(thing(2))));
    const thing& same = co_await shared;
    static_cast<void>(same);
}
task<> externals() { co_await with_scope(externals_in); }
constexpr job_local<thing> place;
task<> values() {
    const thing got = co_await with_value(place, thing(1), echo(thing(2)));
    static_cast<void>(got);
}

// Hooks that are called because of a cancel: what they throw goes to the sink, and the job completes all the same.
task<> hooks_in(scope& s) {
    const auto hook = [] { call(); };
    auto made = make_promise<int>(s, "hooked", hook);
    const token child(made.first.as_job().tree_node());
    const executor_ref here = s.executor();
    const callback told(child, level::cancel, here, hook);
    const inline_callback<decltype(hook)> at_once(child, level::cancel, hook);
    external_resource op = external_resource::open(made.first.as_job().tree_node(), "op", hook);
    made.first.cancel();
    co_await yield();
    co_await yield();
    op.reset();
    made.second.set_value(1);
    co_await made.first.join();
}
task<> hooks() { co_await with_scope(hooks_in); }

using scenario = task<> (*)();

// True: it went through without a throw.
bool run_with(scenario make, int n) {
    bool untouched = false;
    {
        rig::stage s;
        job j;
        calls_left = n;
        try {
            j = s.start(make());
        } catch (const thrown&) {}
        for (int i = 0; i < 10 && j && !j.is_finished(); ++i) {
            s.run();
            s.advance(10ms);
        }
        untouched = calls_left >= 0;
        calls_left = -1;
        EXPECT_TRUE(j.is_finished()) << "call " << n;
        if (j && untouched) {
            EXPECT_EQ(j.state(), job_state::completed);
        }
        j = {};
        EXPECT_EQ(alive, 0) << "call " << n;
        EXPECT_EQ(s.play(scopes()).state(), job_state::completed) << "the scope can be used again";
    }
    return untouched;
}

void exhaust(scenario make) {
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    int n = 0;
    while (n < 300 && !run_with(make, n)) {
        ++n;
    }
    set_failure_sink(before);
    EXPECT_LT(n, 300);
    EXPECT_GT(n, 3) << "nothing threw, so nothing was tested";
}

TEST(nth_throw, TASK_42_awaits) { exhaust(awaits); }
TEST(nth_throw, TASK_42_scopes) { exhaust(scopes); }
TEST(nth_throw, TASK_42_deadlines_and_shields) { exhaust(deadlines); }
TEST(nth_throw, TASK_42_exits) { exhaust(exits); }
TEST(nth_throw, TASK_42_when_all_and_races) { exhaust(combinations); }
TEST(nth_throw, TASK_42_maps_and_retries) { exhaust(ranges); }
TEST(nth_throw, TASK_42_supervision) { exhaust(supervises); }
TEST(nth_throw, TASK_42_generators) { exhaust(generates); }
TEST(nth_throw, TASK_42_values) { exhaust(values); }
TEST(nth_throw, TREE_90_hooks_of_a_cancel) {
    exhaust(hooks);
    for (int n = 0; n < 4; ++n) {
        int reports = 0;
        static int* counted;
        counted = &reports;
        const auto before =
            set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept { ++*counted; });
        {
            rig::stage s;
            calls_left = n;
            EXPECT_EQ(s.play(hooks()).state(), job_state::completed) << "hook " << n << " threw";
            calls_left = -1;
        }
        set_failure_sink(before);
        EXPECT_EQ(reports, 1) << "hook " << n;
    }
}
TEST(nth_throw, TASK_42_externals_and_sharing) { exhaust(externals); }

}  // namespace
