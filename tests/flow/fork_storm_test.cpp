// Groups that are big, deep, interrupted at every step, or run in every order.
#include <roost/flow/closing_executor.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/observe/dump.hpp>
#include <roost/observe/job_events.hpp>
#include <roost/runtime/loop.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/on.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/testing/virtual_time.hpp>

#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;
using namespace std::chrono_literals;

namespace {

task<int> leaf() { co_return 1; }

// --- size ------------------------------------------------------------------------------------------------------------------

task<int> maybe_wait(int i, int every) {
    if (every != 0 && i % every == 0) {
        co_await yield();
    }
    co_return i;
}
task<long> many(int n, int every) {
    std::vector<task<int>> all;
    for (int i = 0; i < n; ++i) {
        all.push_back(maybe_wait(i, every));
    }
    const std::vector<int> got = co_await when_all(std::move(all));
    long sum = 0;
    for (const int i : got) {
        sum += i;
    }
    co_return sum;
}
task<> many_of(int every, long& sum) { sum = co_await many(10'000, every); }

TEST(fork_storm, JOB_72_ten_thousand_on_every_executor) {
    constexpr long expected = 9'999L * 10'000 / 2;
    for (const int every : {0, 1, 7}) {
        for (const unsigned workers : {1U, 2U}) {
            runtime threads(runtime_options().workers(workers));
            EXPECT_EQ(block_on(threads, many(10'000, every)), expected);
        }
        long sum = 0;
        rig::stage s;
        s.play(many_of(every, sum));
        EXPECT_EQ(sum, expected);
        roost::testing::virtual_time mixed(7);
        owned_scope root(mixed, scope_options("root").report_failures());
        root.launch("many", many_of(every, sum = 0));
        root.request_close();
        mixed.run();
        EXPECT_EQ(sum, expected);
    }
    inline_executor at_once;
    owned_scope root(at_once, scope_options("root").report_failures());
    long sum = 0;
    root.launch("many", many_of(0, sum));
    EXPECT_EQ(sum, expected);
    root.request_close();
}

task<> few(std::size_t& seen) {
    std::vector<task<int>> none;
    seen += (co_await when_all(std::move(none))).size();
    std::vector<task<int>> single;
    single.push_back(leaf());
    seen += (co_await when_all(std::move(single))).size();
    std::vector<task<int>> alone;
    alone.push_back(leaf());
    auto won = co_await race(std::move(alone));
    seen += won.index() + 10;
    std::vector<task<int>> settled;
    settled.push_back(leaf());
    seen += (co_await when_all_settled(std::move(settled))).size() * 100;
    seen += (co_await when_all_settled(std::vector<task<int>>())).size();
    try {
        static_cast<void>(co_await race(std::vector<task<int>>()));
    } catch (const error& e) {
        seen += e.code() == errc::empty_set ? 1000 : 0;
    }
}
TEST(fork_storm, JOB_39_none_and_one) {
    std::size_t seen = 0;
    rig::stage s;
    EXPECT_EQ(s.play(few(seen)).state(), job_state::completed);
    EXPECT_EQ(seen, 1111U);
}

// --- depth -----------------------------------------------------------------------------------------------------------------

task<int> bottom(event& e, bool fails) {
    if (fails) {
        throw std::out_of_range("bottom");
    }
    co_await e.wait();
    co_return 0;
}
task<int> chain(int n, event& e, bool fails) {
    if (n == 0) {
        co_return co_await bottom(e, fails);
    }
    auto [a, b] = co_await when_all(chain(n - 1, e, fails), leaf());
    co_return a + b;
}
constexpr int deep = 30'000;

TEST(fork_storm, JOB_74_a_failure_below_many) {
    rig::stage s;
    event never;
    const auto sink = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    const job j = s.play(chain(deep, never, true));
    set_failure_sink(sink);
    EXPECT_EQ(j.state(), job_state::failed);
}
TEST(fork_storm, JOB_74_a_wait_below_many) {
    rig::stage s;
    event go;
    const job j = s.play(chain(deep, go, false));
    EXPECT_FALSE(j.is_finished());
    go.set();
    s.run();
    EXPECT_EQ(j.state(), job_state::completed);
}
TEST(fork_storm, JOB_74_a_cancel_above_many) {
    rig::stage s;
    event never;
    const job j = s.play(chain(deep, never, false));
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
}

// --- at every step ---------------------------------------------------------------------------------------------------------

int alive = 0;
task<int> child(int i, rig::tracked) {
    switch (i % 5) {
        case 0: break;
        case 1: co_await yield(); break;
        case 2: co_await sleep_for(1ms); break;
        case 3: co_return co_await shield(1s, child(1, rig::tracked(alive)));
        default: {
            const auto guard = co_await ignore_cancellation();
            co_await yield();
        }
    }
    co_return i;
}
task<int> fails_late(rig::tracked) {
    co_await yield();
    throw std::out_of_range("late");
}
task<> in_own_scope(scope& s) {
    s.launch("below", child(1, rig::tracked(alive)));
    s.launch("below", child(2, rig::tracked(alive)));
    co_return;
}
task<int> launches(rig::tracked) {
    co_await with_scope(in_own_scope);
    co_return 1;
}
task<int> elsewhere(executor& there, rig::tracked) { co_return co_await on(there, child(1, rig::tracked(alive))); }
task<int> mixed(executor& there, int how) {
    auto [a, b, c] = co_await when_all(child(how, rig::tracked(alive)), child(how / 5, rig::tracked(alive)),
                                       elsewhere(there, rig::tracked(alive)));
    auto won =
        co_await race(child(how + 1, rig::tracked(alive)), launches(rig::tracked(alive)), fails_late(rig::tracked(alive)));
    auto best = co_await first_success(fails_late(rig::tracked(alive)), child(how, rig::tracked(alive)));
    auto late = co_await move_on_after(1ms, when_all(child(2, rig::tracked(alive)), launches(rig::tracked(alive))));
    auto [x, y] = co_await when_all_settled(fails_late(rig::tracked(alive)), child(how / 5, rig::tracked(alive)));
    co_return a + b + c + won.value() + best.value() + (late ? 1 : 0) + (x.has_error() ? 1 : 0) + (y.has_value() ? 1 : 0);
}
task<int> both_mixed(executor& there, int how) {
    auto [a, b] = co_await when_all(mixed(there, how), mixed(there, 24 - how));
    co_return a + b;
}
task<int> ends_somehow(executor& there, int how) {
    auto got = co_await as_outcome(both_mixed(there, how));
    co_return got.has_value() ? 1 : 0;
}

TEST(fork_storm, JOB_73_a_cancel_at_every_step) {
    const auto sink = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    for (int how = 0; how < 25; how += 3) {
        bool is_over = false;
        for (int step = 0; !is_over; ++step) {
            roost::testing::virtual_time here(static_cast<std::uint64_t>(step % 4));
            owned_scope root(here, scope_options("root").report_failures());
            const job j = root.launch("mixed", both_mixed(here, how));
            int left = step;
            is_over = here.run_until([&] { return j.is_finished() || left-- == 0; }) && j.is_finished();
            static_cast<void>(dump(root));
            j.cancel();
            root.request_close();
            here.run();
            ASSERT_TRUE(j.is_finished()) << how << ' ' << step;
            ASSERT_TRUE(root.is_closed()) << how << ' ' << step;
            ASSERT_EQ(alive, 0) << how << ' ' << step;
        }
    }
    set_failure_sink(sink);
}

TEST(fork_storm, JOB_73_every_order) {
    const auto sink = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        roost::testing::virtual_time here(seed);
        owned_scope root(here, scope_options("root").report_failures());
        const job j = root.launch("mixed", ends_somehow(here, static_cast<int>(seed % 25)));
        root.request_close();
        here.run();
        ASSERT_EQ(j.state(), job_state::completed) << seed;
        ASSERT_EQ(alive, 0) << seed;
    }
    set_failure_sink(sink);
}

// --- reports from outside ---------------------------------------------------------------------------------------------------

// Every job that ends has begun; each once.
class bookkeeper final : public job_observer {
public:
    void on_event(const job_event& e) noexcept override {
        if (e.kind() == job_event_kind::created) {
            EXPECT_EQ(living[e.id()]++, 0) << e.name();
        } else if (e.kind() == job_event_kind::finished && living.contains(e.id())) {
            EXPECT_EQ(living[e.id()]--, 1) << e.name();
            ++ended;
        }
    }
    std::map<const void*, int> living;
    int ended = 0;
};

TEST(fork_storm, JOB_61_an_observer_that_begins_at_any_step_sees_every_later_child_once) {
    const auto sink = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    bool is_over = false;
    for (int step = 0; !is_over; ++step) {
        roost::testing::virtual_time here;
        owned_scope root(here, scope_options("root").report_failures());
        bookkeeper books;
        const job j = root.launch("mixed", ends_somehow(here, step % 25));
        int left = step;
        is_over = here.run_until([&] { return j.is_finished() || left-- == 0; }) && j.is_finished();
        const bool before = set_job_counting(true);
        const job_counts start = job_counts_now();
        {
            const observation on(books);
            root.request_close();
            here.run();
        }
        const job_counts end = job_counts_now();
        set_job_counting(before);
        ASSERT_EQ(end.created() - start.created(), end.finished() - start.finished()) << step;
        for (const auto& [id, n] : books.living) {
            ASSERT_EQ(n, 0) << step;
        }
    }
    set_failure_sink(sink);
}

}  // namespace
