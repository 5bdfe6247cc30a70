// Real threads: selects that meet, wakes and cancels at once, and a visitor of the tree the whole time.
#include <roost/flow/select.hpp>
#include <roost/observe/dump.hpp>
#include <roost/observe/job_events.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/this_task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace roost;
using namespace roost::observe;

namespace {

int scaled(int full) {
    const char* text = std::getenv("ROOST_STRESS_SCALE");
    const double scale = text == nullptr ? 0.05 : std::atof(text);
    const int n = static_cast<int>(full * scale);
    return n < 100 ? 100 : n;
}

class ledger {
public:
    std::atomic<long> sent{0};
    std::atomic<long> received{0};
    std::atomic<long> sum_sent{0};
    std::atomic<long> sum_received{0};
};

// Both ways at once, so that two of these meet as sender and receiver.
task<> trade(channel<int>& a, channel<int>& b, int n, int first, ledger& l) {
    for (int i = 0; i < n; ++i) {
        int value = first + i;
        auto got = co_await select(fair, a.send_from(value), b.receive(), b.send_from(value), a.receive());
        if (got.index() == 0 || got.index() == 2) {
            l.sent.fetch_add(1);
            l.sum_sent.fetch_add(first + i);
        } else {
            l.received.fetch_add(1);
            l.sum_received.fetch_add(got.index() == 1 ? *got.get<1>() : *got.get<3>());
        }
    }
}

TEST(select_stress, JOB_56_traders_at_channels_without_places) {
    runtime rt(runtime_options().workers(2));
    channel<int> a(0, "a");
    channel<int> b(0, "b");
    ledger l;
    owned_scope root(rt, scope_options("root").report_failures());
    std::vector<job> traders;
    for (int i = 0; i < 6; ++i) {
        traders.push_back(root.launch("trader", trade(a, b, scaled(200'000), i * 1'000'000, l)));
    }
    const auto is_over = [&] {
        // An odd one is left alone at the end.
        std::size_t finished = 0;
        for (const job& j : traders) {
            finished += j.is_finished() ? 1 : 0;
        }
        return finished + 1 >= traders.size();
    };
    std::atomic<bool> done{false};
    std::thread looker([&] {
        while (!done.load()) {
            EXPECT_NE(dump(root).find("owned scope"), std::string::npos);
        }
    });
    while (!is_over()) {
        std::this_thread::yield();
    }
    done.store(true);
    looker.join();
    for (const job& j : traders) {
        j.cancel();
    }
    root.close_blocking();
    EXPECT_EQ(l.sent.load(), l.received.load());
    EXPECT_EQ(l.sum_sent.load(), l.sum_received.load());
    EXPECT_EQ(a.waiters_now() + b.waiters_now(), 0U);
}

task<> take_either(semaphore& a, semaphore& b, std::atomic<long>& got) {
    for (;;) {
        auto which = co_await select(a.acquire(), b.acquire());
        got.fetch_add(1);
        co_await yield();
    }
}

TEST(select_stress, JOB_57_permits_survive_cancels_at_any_moment) {
    runtime rt(runtime_options().workers(2));
    semaphore a(1, "a");
    semaphore b(1, "b");
    std::atomic<long> got{0};
    set_job_counting(true);
    const job_counts before = job_counts_now();
    {
        owned_scope root(rt, scope_options("root").report_failures());
        const int rounds = scaled(100'000);
        for (int i = 0; i < rounds; ++i) {
            const job one = root.launch("one", take_either(a, b, got));
            const job two = root.launch("two", take_either(a, b, got));
            const job three = root.launch("three", take_either(a, b, got));
            if (i % 3 == 0) {
                std::this_thread::yield();
            }
            if (i % 64 == 0) {
                static_cast<void>(dump(root));
            }
            two.cancel();
            one.cancel();
            three.cancel();
        }
        root.close_blocking();
        const job_counts after = job_counts_now();
        EXPECT_EQ(after.created() - before.created(), 3UL * static_cast<unsigned long>(rounds));
        EXPECT_EQ(after.finished() - before.finished(), after.created() - before.created());
        EXPECT_EQ(after.cancelled() - before.cancelled(), after.created() - before.created());
        EXPECT_EQ(after.cancels_requested() - before.cancels_requested(), after.created() - before.created());
    }
    set_job_counting(false);
    EXPECT_EQ(a.available(), 1U);
    EXPECT_EQ(b.available(), 1U);
    EXPECT_EQ(a.waiters_now() + b.waiters_now(), 0U);
}

}  // namespace
