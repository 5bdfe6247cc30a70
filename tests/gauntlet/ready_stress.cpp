// Scenario 30, the busy half: bodies whose awaits are always ready, on every worker, beside timers, posts from outside and limits.
// Every one of those is served while the loops run; the loops end when they are told to, and not before.

#include <roost/runtime/run.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "../runtime/fixture.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace runtime_tests;
using namespace std::chrono_literals;
using gauntlet::load;
using gauntlet::quiet;

// What all loops look at. They never wait.
class busy {
public:
    [[nodiscard]] bool goes_on() const noexcept { return !over_.load(mo::relaxed); }
    void end() noexcept { over_.store(true, mo::relaxed); }
    semaphore permits{64};

private:
    atomic<bool> over_{false};
};

task<int> at_once() { co_return 1; }
task<> checkpoints(busy& b) {
    while (b.goes_on()) {
        co_await checkpoint();
    }
}
task<> tasks(busy& b) {
    while (b.goes_on()) {
        static_cast<void>(co_await at_once());
    }
}
task<> sleeps(busy& b) {
    while (b.goes_on()) {
        co_await sleep_for(0s);
    }
}
task<> yields(busy& b) {
    while (b.goes_on()) {
        co_await yield();
    }
}
task<> channels(busy& b) {
    channel<int> c(4);
    while (b.goes_on()) {
        static_cast<void>(co_await c.send(1));
        static_cast<void>(co_await c.receive());
    }
}
task<> permits(busy& b) {
    while (b.goes_on()) {
        const auto held = co_await b.permits.acquire();
    }
}
constexpr task<> (*loops[])(busy&) = {checkpoints, tasks, sleeps, yields, channels, permits};

class ready_on : public ::testing::TestWithParam<unsigned> {};

// Every kind of loop as often as there are workers.
void fill(owned_scope& root, busy& b, unsigned workers) {
    for (unsigned i = 0; i < workers; ++i) {
        for (const auto loop : loops) {
            root.launch("loop", loop(b));
        }
    }
}

task<> count_down(countdown& n) {
    n.down();
    co_return;
}
task<> naps(countdown& n, long times) {
    for (long i = 0; i < times; ++i) {
        co_await sleep_for(1ms);
        n.down();
    }
}

// Four foreign threads launch, and timers fire: all of it is done while the loops still run.
TEST_P(ready_on, GAUNTLET_30_RUN_131_a_flood_from_outside_beside_loops_that_never_wait) {
    const quiet q("scenario 30, a flood from outside");
    constexpr int posters = 4;
    const long each = load(500);
    const long beats = load(20);
    runtime rt(runtime_options().workers(GetParam()).soft_budget(0s));
    busy b;
    countdown unhandled(static_cast<std::uint32_t>(posters * each));
    countdown asleep(static_cast<std::uint32_t>(beats));
    owned_scope root(rt, scope_options("flood").report_failures());
    fill(root, b, GetParam());
    root.launch("naps", naps(asleep, beats));
    std::vector<thread> foreign;
    for (int p = 0; p < posters; ++p) {
        foreign.emplace_back([&] {
            for (long i = 0; i < each; ++i) {
                root.launch("request", count_down(unhandled));
            }
        });
    }
    for (thread& t : foreign) {
        t.join();
    }
    unhandled.wait();
    asleep.wait();
    EXPECT_TRUE(b.goes_on()) << "the loops ran meanwhile";
    b.end();
    root.close_blocking();
    q.say("%u workers: %ld requests from outside and %ld timers beside %zu loops, all of them served", GetParam(),
          posters * each, beats, GetParam() * std::size(loops));
}

task<> limited(busy& b, std::size_t kind, atomic<long>& ended, atomic<long>& returned) {
    const bool in_time = co_await move_on_after(5ms, loops[kind](b));
    (in_time ? returned : ended).fetch_add(1, mo::relaxed);
}

// A limit on each of many loops at once: each is ended by its own, and none goes on.
TEST_P(ready_on, GAUNTLET_30_JOB_120_many_loops_each_under_a_limit) {
    const quiet q("scenario 30, limits");
    const long rounds = load(20);
    runtime rt(runtime_options().workers(GetParam()).soft_budget(0s));
    busy b;
    atomic<long> ended{0};
    atomic<long> returned{0};
    for (long i = 0; i < rounds; ++i) {
        owned_scope root(rt, scope_options("limits").report_failures());
        for (std::size_t kind = 0; kind < std::size(loops); ++kind) {
            root.launch("limited", limited(b, kind, ended, returned));
        }
        root.close_blocking();
    }
    EXPECT_EQ(ended.load(mo::relaxed), rounds * static_cast<long>(std::size(loops)));
    EXPECT_EQ(returned.load(mo::relaxed), 0);
    q.say("%u workers: %ld loops, each ended by its limit", GetParam(), ended.load(mo::relaxed));
}

task<> naps_for_ever() { co_await sleep_for(1h); }
void burn() {
    for (const time_point until = deadline_after(now(), 3ms); now() < until;) {}
}
task<> launches_late(scope& s) {
    burn();
    s.launch("too late", naps_for_ever());
    co_return;
}
task<> returns_late(scope& s) {
    s.launch("cut", naps_for_ever());
    burn();
    co_return;
}
task<> late_scope(bool launches) {
    if (launches) {
        co_await with_scope(launches_late);
    } else {
        co_await with_scope(returns_late);
    }
}
task<long> late_scopes(long rounds) {
    long late = 0;
    for (long i = 0; i < rounds; ++i) {
        const bool in_time = co_await move_on_after(1ms, late_scope(i % 2 == 0));
        late += in_time ? 0 : 1;
    }
    co_return late;
}

// The timer fires on another worker while the body runs, or cannot fire at all: the answer is the same.
TEST_P(ready_on, GAUNTLET_30_JOB_121_scopes_whose_children_the_limit_cancelled) {
    const quiet q("scenario 30, late scopes");
    const long rounds = load(200);
    EXPECT_EQ(run(late_scopes(rounds), runtime_options().workers(GetParam()).soft_budget(0s)), rounds);
}

INSTANTIATE_TEST_SUITE_P(workers, ready_on, ::testing::Values(1U, 2U, 8U));

}  // namespace
