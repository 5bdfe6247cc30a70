// Groups on executors that close, shut down or have others to serve; results and jobs that outlive or fail on the way.
#include <roost/flow/closing_executor.hpp>
#include <roost/flow/detail/group/fork.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/runtime/loop.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<int> leaf() { co_return 1; }
task<int> child(event& e, int& begun, rig::tracked) {
    ++begun;
    co_await e.wait();
    co_return 1;
}
task<int> three(event& e, int& begun, int& alive) {
    auto [a, b, c] = co_await when_all(child(e, begun, rig::tracked(alive)), child(e, begun, rig::tracked(alive)),
                                       child(e, begun, rig::tracked(alive)));
    co_return a + b + c;
}
task<> borrow(closing_executor& own, task<int> t, outcome<int>& got) { got = co_await as_outcome(on(own, std::move(t))); }
task<> close_it(closing_executor& own) { co_await own.close(); }

TEST(fork_executor, JOB_73_an_executor_that_closes_with_a_group_in_its_queue) {
    for (int steps = 0; steps < 6; ++steps) {
        rig::stage s;
        roost::testing::manual_executor there("there");
        event never;
        int begun = 0;
        int alive = 0;
        closing_executor own(there, "own");
        const job mine = own.launch("mine", three(never, begun, alive));
        outcome<int> got(std::in_place, 7);
        const job borrower = s.play(borrow(own, three(never, begun, alive), got));
        for (int i = 0; i < steps; ++i) {
            there.run_one();
        }
        const int before = begun;
        const job closer = s.play(close_it(own));
        while (there.run_all() + s.executor.run() != 0) {}
        EXPECT_EQ(closer.state(), job_state::completed) << steps;
        EXPECT_EQ(mine.state(), job_state::cancelled) << steps;
        EXPECT_EQ(mine.why().kind(), reason_kind::closed) << steps;
        EXPECT_EQ(got.why().kind(), reason_kind::closed) << steps;
        EXPECT_EQ(begun, before) << "no child begins afterwards, " << steps;
        EXPECT_EQ(alive, 0) << steps;
    }
}

task<int> yields(int n) {
    for (int i = 0; i < n; ++i) {
        co_await yield();
    }
    co_return n;
}
task<int> nest(int depth) {
    if (depth == 0) {
        co_return co_await yields(3);
    }
    auto [a, b, c] = co_await when_all(nest(depth - 1), yields(2), nest(depth - 1));
    co_return a + b + c;
}
task<int> nest_waiting(int depth, event& e) {
    if (depth == 0) {
        co_await e.wait();
        co_return 0;
    }
    auto [a, b] = co_await when_all(nest_waiting(depth - 1, e), nest_waiting(depth - 1, e));
    co_return a + b;
}
TEST(fork_executor, JOB_72_a_runtime_that_shuts_down_ends_the_groups_that_run) {
    for (int i = 0; i < 20; ++i) {
        event never;
        runtime threads(runtime_options().workers(2));
        owned_scope root(threads, scope_options("root").report_failures());
        const job runs = root.launch("runs", nest(6));
        const job waits = root.launch("waits", nest_waiting(6, never));
        std::this_thread::sleep_for(std::chrono::microseconds(i * 50));
        waits.cancel();
        root.request_close();
        threads.shut_down();
        EXPECT_TRUE(root.is_closed()) << i;
        EXPECT_EQ(runs.state(), job_state::completed);
        EXPECT_EQ(waits.state(), job_state::cancelled);
    }
}

// --- other work runs in between ----------------------------------------------------------------------------------------------

task<> until_set(const std::atomic<bool>& is_set, bool nested) {
    while (!is_set) {
        if (nested) {
            co_await when_all(when_all(leaf(), leaf()), leaf());
        } else {
            co_await when_all(leaf(), leaf());
        }
    }
}
task<> set_after(std::atomic<bool>& is_set, duration after) {
    if (after > duration::zero()) {
        co_await sleep_for(after);
    } else {
        co_await yield();
    }
    is_set = true;
}
void take_turns(executor_ref on, const std::function<void()>& run, bool nested, duration after) {
    std::atomic<bool> is_set{false};
    owned_scope root(on, scope_options("root").report_failures());
    root.launch("sets", set_after(is_set, after));
    root.launch("loops", until_set(is_set, nested));
    root.request_close();
    run();
    root.close_blocking();
}
TEST(fork_executor, JOB_72_a_body_that_only_forks_lets_the_others_run) {
    for (const bool nested : {false, true}) {
        for (const duration after : {duration::zero(), duration(2ms)}) {
            runtime threads(runtime_options().workers(1));
            take_turns(threads.get_executor(), [] {}, nested, after);
            loop here;
            take_turns(
                here,
                [&] {
                    here.close();
                    here.run();
                },
                nested, after);
        }
    }
}

// --- results that fail on the way ------------------------------------------------------------------------------------------------

class fragile {
public:
    fragile(int& alive, bool throws) : counted_(alive), throws_(throws) {}
    fragile(fragile&& other) : counted_(other.counted_), throws_(other.throws_) {
        if (throws_ && other.armed_) {
            throw std::domain_error("moved");
        }
        armed_ = true;
    }
    ~fragile() = default;

private:
    rig::tracked counted_;
    bool throws_;
    bool armed_ = false;
};
task<fragile> make_fragile(int& alive, bool throws) { co_return fragile(alive, throws); }
template <class Call>
task<int> catch_moved(Call call) {
    try {
        static_cast<void>(co_await std::move(call));
    } catch (const std::domain_error&) {
        co_return 1;
    }
    co_return 0;
}
task<> all_fragile(int& alive, int& caught) {
    caught += co_await catch_moved(when_all(make_fragile(alive, false), make_fragile(alive, true)));
    caught += co_await catch_moved(race(make_fragile(alive, true), make_fragile(alive, false)));
    std::vector<task<fragile>> many;
    many.push_back(make_fragile(alive, false));
    many.push_back(make_fragile(alive, true));
    many.push_back(make_fragile(alive, false));
    caught += co_await catch_moved(when_all(std::move(many)));
}
TEST(fork_executor, JOB_39_a_result_that_cannot_be_moved_fails_the_await_and_nothing_else) {
    int alive = 0;
    int caught = 0;
    runtime threads(runtime_options().workers(1));
    block_on(threads, all_fragile(alive, caught));
    EXPECT_EQ(caught, 3);
    EXPECT_EQ(alive, 0);
}

// --- jobs with a handle ----------------------------------------------------------------------------------------------------

task<int> keeps(std::vector<job>& kept, event* e) {
    kept.push_back(co_await this_job());
    if (e != nullptr) {
        co_await e->wait();
    }
    co_return 1;
}
task<int> cancels_the_kept(std::vector<job>& kept) {
    for (const job& j : kept) {
        j.cancel();
    }
    const job me = co_await this_job();
    EXPECT_FALSE(me.cancel_requested()) << "it is not the job that was kept";
    for (const job& j : kept) {
        EXPECT_TRUE(j.is_finished());
        co_await j.join();
    }
    co_return 2;
}
task<int> keep_and_cancel(std::vector<job>& kept) {
    auto [a, b] = co_await when_all(keeps(kept, nullptr), cancels_the_kept(kept));
    co_return a + b;
}
task<int> keep_twice(std::vector<job>& kept) {
    auto [a, b] = co_await when_all(keep_and_cancel(kept), keep_and_cancel(kept));
    co_return a + b;
}
TEST(fork_executor, JOB_73_a_job_with_a_handle_outlives_its_group_and_is_not_reused) {
    std::vector<job> kept;
    {
        runtime threads(runtime_options().workers(1));
        EXPECT_EQ(block_on(threads, keep_twice(kept)), 6);
    }
    ASSERT_EQ(kept.size(), 2U);
    EXPECT_NE(kept[0], kept[1]);
    EXPECT_EQ(kept[0].state(), job_state::completed);
    EXPECT_EQ(kept[0].name(), "one of all");
}

}  // namespace
