// Scenarios 27 and 28: handles that die far from home, and places that are used again and again.

#include <roost/pool/pool.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/job.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/tree/lease.hpp>
#include <roost/tree/token.hpp>

#include "quiet.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace {

using namespace roost;
using namespace roost::ext;
using gauntlet::census;
using gauntlet::counted;
using gauntlet::load;
using gauntlet::quiet;

// One of everything that gives something back when it goes.
struct belongings {
    guard work;
    semaphore::permit permit;
    pooled<counted> resource;
    token observer;
    job child;
};

task<> nothing() { co_return; }

struct home {
    census resources;
    shutdown root{"home"};
    semaphore permits{64, "permits"};
    pool<counted> resources_pool{pool_options(16, "resources"), [this] { return counted(resources); }};

    belongings pack(const job& j) {
        belongings b;
        b.work = root.guard();
        b.permit = permits.try_acquire();
        if (auto got = resources_pool.try_acquire_or_create(); got) {
            b.resource = std::move(got.handle());
        }
        b.observer = root.observe();
        b.child = j;
        return b;
    }
    void expect_everything_back() {
        EXPECT_EQ(root.guard_count(), 0U);
        EXPECT_EQ(permits.available(), 64U);
        EXPECT_EQ(resources_pool.stats().out, 0U);
    }
};

// Declared here so that it goes when the thread does, after everything on its stack.
thread_local std::optional<belongings> last_words;

TEST(gauntlet_handles, GAUNTLET_27_handles_die_on_foreign_threads_and_at_their_end) {
    const quiet q("scenario 27");
    const long each = load(100'000, 2000);
    std::optional<home> here(std::in_place);
    job j;
    {
        runtime rt(runtime_options().workers(1));
        owned_scope root(rt, scope_options("root").report_failures());
        j = root.launch("over", nothing());
        root.close_blocking();
    }  // from here on the executor of j is gone
    std::array<std::optional<belongings>, 8> travelling;
    std::array<std::mutex, 8> locks;
    std::vector<std::thread> threads;
    for (std::size_t me = 0; me < 8; ++me) {
        threads.emplace_back([&, me] {
            for (long i = 0; i < each; ++i) {
                std::optional<belongings> mine(here->pack(j));
                const std::lock_guard hold(locks[(me + 1) % 8]);
                mine.swap(travelling[(me + 1) % 8]);  // and what was there dies here
            }
            last_words.emplace(here->pack(j));
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    for (auto& left : travelling) {
        left.reset();
    }
    here->expect_everything_back();
    EXPECT_TRUE(here->resources_pool.close_blocking());
    census& resources = here->resources;
    q.expect_none(resources, "resources");
    q.say("%ld sets of handles over 8 threads, %ld resources made", 8 * each, resources.made());
    j = {};
    here.reset();
}

// After main: the handles are older than what they came from, and the runtime is gone.
void leave_with_static_handles() {
    static home here;
    static belongings kept;
    {
        std::optional<runtime> rt;
        job j;
        if (!gauntlet::under_tsan) {  // it does not support threads in a forked child
            rt.emplace(runtime_options().workers(1));
            owned_scope root(*rt, scope_options("root").report_failures());
            j = root.launch("over", nothing());
            root.close_blocking();
        }
        kept = here.pack(j);
    }
    static belongings later = here.pack(kept.child);
    std::exit(7);
}

TEST(gauntlet_handles, GAUNTLET_27_handles_die_in_static_destructors) {
    const quiet q("scenario 27");
    EXPECT_EXIT(leave_with_static_handles(), ::testing::ExitedWithCode(7), "");
    q.say("two sets of handles destroyed after main");
}

// Slots that come and go between four threads: nobody holds what somebody else holds.
TEST(gauntlet_handles, GAUNTLET_28_places_used_again_ten_million_times_are_never_given_twice) {
    const quiet q("scenario 28");
    struct slot_user {
        std::atomic<int> users{0};
        slot_user() = default;
        slot_user(slot_user&&) noexcept {}
    };
    const long each = load(10'000'000) / 4;
    std::atomic<long> twice{0};
    std::atomic<long> got{0};
    std::atomic<long> made{0};
    {
        pool_options o(3, "slots");
        o.stripes = 1;
        pool<slot_user> p(o, [&] {
            made.fetch_add(1);
            return slot_user();
        });
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                long mine = 0;
                for (long i = 0; i < each; ++i) {
                    auto one = p.try_acquire_or_create();
                    if (!one) {
                        std::this_thread::yield();
                        continue;
                    }
                    ++mine;
                    twice += one->users.fetch_add(1, std::memory_order_relaxed) != 0 ? 1 : 0;
                    one->users.fetch_sub(1, std::memory_order_relaxed);
                    if (i % 64 == 0) {
                        one.handle().discard();  // and the place itself is made anew
                    }
                }
                got += mine;
            });
        }
        for (std::thread& t : threads) {
            t.join();
        }
        EXPECT_EQ(p.stats().out, 0U);
        EXPECT_TRUE(p.close_blocking());
    }
    EXPECT_EQ(twice.load(), 0);
    q.say("%ld rounds on 3 places, %ld acquired, %ld made anew", each * 4, got.load(), made.load());
}

}  // namespace
