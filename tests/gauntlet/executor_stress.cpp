// Scenarios 17 and 18: an executor that ends, and one that refuses. (19, thread creation: runtime/thread_failure_test.cpp.)

#include <roost/exec/executor.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/testing/manual_executor.hpp>

#include "../runtime/fixture.hpp"
#include "../sync/coroutines.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

namespace {

using namespace runtime_tests;
using gauntlet::census;
using gauntlet::counted;
using gauntlet::load;
using gauntlet::quiet;

task<> waits(event& never, counted) { co_await never.wait(); }

class shut_down_of : public ::testing::TestWithParam<unsigned> {};

TEST_P(shut_down_of, GAUNTLET_17_RUN_100_waiters_queue_and_posters_all_end_one_way) {
    const quiet q("scenario 17");
    const auto each = static_cast<std::uint32_t>(load(100'000));
    census frames;
    atomic<std::uint32_t> ran{0};
    const auto make = [&] {
        std::vector<std::unique_ptr<call>> all;
        for (std::uint32_t i = 0; i < each; ++i) {
            all.push_back(std::make_unique<call>([&] { ran.fetch_add(1, mo::relaxed); }));
        }
        return all;
    };
    auto queued = make();
    std::vector<std::vector<std::unique_ptr<call>>> more;
    for (int i = 0; i < 4; ++i) {
        more.push_back(make());
    }
    atomic<std::uint32_t> accepted{0};
    atomic<std::uint32_t> refused{0};
    atomic<int> stage{0};  // 1: the waiters are gone, 2: the runtime is about to end, 3: it has ended
    long cancelled = 0;
    {
        event never("never");
        runtime rt(runtime_options().workers(GetParam()));
        owned_scope root(rt, scope_options("root").report_failures());
        std::vector<job> waiting;
        for (std::uint32_t i = 0; i < each; ++i) {
            waiting.push_back(root.launch("waiter", waits(never, counted(frames))));
        }
        for (auto& c : queued) {
            accepted.fetch_add(rt.post(*c) ? 1 : 0, mo::relaxed);
        }
        std::vector<thread> posters;
        for (auto& mine : more) {
            posters.emplace_back([&] {
                for (std::size_t i = 0; i < mine.size(); ++i) {
                    // Half before the end, a tenth while it comes, a hundredth after it.
                    const std::size_t n = mine.size();
                    const int wanted = i >= n - n / 100 ? 3 : i >= n - n / 10 ? 2 : i >= n / 2 ? 1 : 0;
                    while (stage.load(mo::acquire) < wanted) {
                        yield_thread();
                    }
                    (rt.post(*mine[i]) ? accepted : refused).fetch_add(1, mo::relaxed);
                }
            });
        }
        root.cancel();
        root.close_blocking();
        stage.store(1, mo::release);
        while (accepted.load(mo::relaxed) < 3 * each + each / 10) {
            yield_thread();
        }
        stage.store(2, mo::release);
        rt.shut_down();
        stage.store(3, mo::release);
        for (thread& t : posters) {
            t.join();
        }
        for (const job& j : waiting) {
            cancelled += j.state() == job_state::cancelled ? 1 : 0;
        }
        EXPECT_EQ(never.waiters_now(), 0U);
    }
    EXPECT_EQ(accepted.load(mo::relaxed) + refused.load(mo::relaxed), 5 * each);
    EXPECT_GE(refused.load(mo::relaxed), 4 * (each / 100));
    EXPECT_EQ(ran.load(mo::relaxed), accepted.load(mo::relaxed)) << "everything accepted has run";
    EXPECT_EQ(cancelled, static_cast<long>(each));
    q.expect_none(frames, "frames");
    q.say("%u workers: %u accepted and run, %u refused, %ld waiters cancelled", GetParam(), accepted.load(mo::relaxed),
          refused.load(mo::relaxed), cancelled);
}

INSTANTIATE_TEST_SUITE_P(workers, shut_down_of, ::testing::Values(1U, 2U, 8U));

// Takes so many, then every other one, then none.
class full_queue final : public executor {
public:
    explicit full_queue(long room) : room_(room) {}
    bool post(work& w) noexcept override {
        ++asked_;
        if (asked_ > room_ && (asked_ > 2 * room_ || asked_ % 2 == 0)) {
            ++refused_;
            return false;
        }
        return inner_.post(w);
    }
    void run() { inner_.run_all(); }
    [[nodiscard]] long refused() const { return refused_; }

private:
    long room_;
    long asked_ = 0;
    long refused_ = 0;
    roost::testing::manual_executor inner_{"full queue"};
};

sync_testing::hosted waits_there(executor&, event& e, long& woken) {
    co_await e.wait();
    ++woken;
}

TEST(gauntlet_executor, GAUNTLET_18_an_executor_that_refuses_in_the_middle_of_a_wake_all_loses_nobody) {
    const quiet q("scenario 18");
    const long n = 10'000;
    const long rounds = load(100, 2);
    long refused = 0;
    for (long round = 0; round < rounds; ++round) {
        full_queue where(n / 4 + round);
        roost::testing::manual_executor fallback("fallback");
        const executor_ref before = set_fallback_executor(fallback);
        event e("gate");
        long woken = 0;
        std::vector<sync_testing::hosted> all;
        for (long i = 0; i < n; ++i) {
            all.push_back(waits_there(where, e, woken));
        }
        e.set();
        where.run();
        const std::size_t fell_back = fallback.run_all();
        set_fallback_executor(before);
        ASSERT_EQ(woken, n);
        ASSERT_EQ(static_cast<long>(fell_back), where.refused()) << "each refusal shows once";
        refused += where.refused();
    }
    q.say("%ld rounds of %ld waiters, %ld refused and run on the fallback", rounds, n, refused);
}

}  // namespace
