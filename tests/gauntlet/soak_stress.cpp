// Scenario 30: a mix of everything, drawn from a seed, with cancels, timeouts, stops, failures and restarts, checked against a
// ledger after every episode. Episodes with an even seed run on virtual time and are the same every time; the others run on real
// threads. ROOST_SOAK_SECONDS says how long, ROOST_SOAK_SEED plays one episode again.

#include <roost/pool/pool.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/checkpoint.hpp>
#include <roost/task/failure_sink.hpp>
#include <roost/task/race.hpp>
#include <roost/task/root.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/supervise.hpp>
#include <roost/task/timeout.hpp>
#include <roost/testing/virtual_time.hpp>

#include "quiet.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace roost;
using namespace std::chrono_literals;
using gauntlet::census;
using gauntlet::counted;
using gauntlet::quiet;
using dice = std::mt19937_64;

struct planted : std::runtime_error {
    planted() : std::runtime_error("planted") {}
};

// A value on its way through the channel: who sent it, and as the how manieth.
struct letter {
    long from;
    long number;
};

// Everything the jobs of an episode share, and what they did to it.
struct world {
    world()
        : things(pool_options(3, "things"), [this] {
              if (creations.fetch_add(1) % 7 == 3) {
                  throw planted();
              }
              return counted(resources);
          }) {}
    census frames;
    census resources;
    std::atomic<long> creations{0};
    std::atomic<long> inside{0};
    std::atomic<long> most_inside{0};
    std::atomic<long> locked_adds{0};
    std::atomic<long> sent{0};
    std::atomic<long> received{0};
    std::atomic<long> attempts{0};
    bool one_thread = false;
    long doubled = 0;
    long under_the_lock = 0;
    std::atomic<long> senders{0};
    std::set<std::pair<long, long>> seen;
    event gate{"gate"};
    auto_reset_event tick{"tick"};
    semaphore permits{2, "permits"};
    mutex lock{"lock"};
    channel<letter> letters{4, "letters"};
    pool<counted> things;
    shutdown node{"world"};
};

task<> use_permit(world& w) {
    auto p = co_await w.permits.acquire();
    const long now_inside = w.inside.fetch_add(1) + 1;
    if (now_inside > w.most_inside.load()) {
        w.most_inside = now_inside;
    }
    // Taken back on whatever way out there is.
    struct leaver {
        explicit leaver(world& in) : w(&in) {}
        ~leaver() { w->inside.fetch_sub(1); }
        world* w;
    };
    const leaver l(w);
    co_await yield();
}
task<> use_lock(world& w) {
    auto held = co_await w.lock.lock();
    const long before = w.under_the_lock;
    co_await yield();
    w.under_the_lock = before + 1;
    w.locked_adds.fetch_add(1);
}
task<> use_thing(world& w, bool breaks) {
    auto got = co_await w.things.acquire("job");
    co_await yield();
    if (got && breaks) {
        got.handle().discard();
    }
}
task<> send_some(world& w, long n) {
    const long me = w.senders.fetch_add(1);
    for (long i = 0; i < n; ++i) {
        letter l{me, i};
        const auto ended = co_await w.letters.send_from(l);
        if (!ended) {
            co_return;
        }
        w.sent.fetch_add(1);
    }
}
task<> receive_some(world& w, long n) {
    for (long i = 0; i < n; ++i) {
        auto got = co_await w.letters.receive();
        if (!got) {
            co_return;
        }
        w.received.fetch_add(1);
        if (w.one_thread) {
            w.doubled += w.seen.emplace(got->from, got->number).second ? 0 : 1;
        }
    }
}
task<> fails_after(duration d) {
    co_await sleep_for(d);
    throw planted();
}
task<> never_ends(world& w) { co_await w.gate.wait(); }
task<> restarted(world& w) {
    w.attempts.fetch_add(1);
    co_await sleep_for(10us);
    if (w.attempts.load() % 3 != 0) {
        throw planted();
    }
}
task<> restarts(supervisor& s, world& w) {
    s.launch("restarted", restarted, std::ref(w));
    co_return;
}

task<> script(world& w, std::uint64_t seed, int depth, counted);

task<> family(scope& s, world& w, std::uint64_t seed, int depth) {
    for (int i = 0; i < 3; ++i) {
        s.launch("child", script(w, seed + static_cast<std::uint64_t>(i), depth + 1, counted(w.frames)));
    }
    co_await yield();
}
task<> open_family(world& w, std::uint64_t seed, int depth) { co_await with_scope(family, std::ref(w), seed, depth); }

task<> one_step(world& w, std::uint64_t r, int depth) {
    const duration little = std::chrono::microseconds(r / 16 % 200);
    switch (r % 14) {
        case 0: co_await use_permit(w); break;
        case 1: co_await use_lock(w); break;
        case 2: co_await use_thing(w, r / 16 % 2 == 0); break;
        case 3: co_await send_some(w, 2); break;
        case 4: static_cast<void>(co_await move_on_after(little, receive_some(w, 3))); break;
        case 5: co_await sleep_for(little); break;
        case 6: static_cast<void>(co_await move_on_after(little, never_ends(w))); break;
        case 7: static_cast<void>(co_await as_outcome(fail_after(little, use_permit(w)))); break;
        case 8: co_await shield(1s, use_lock(w)); break;
        case 9: static_cast<void>(co_await as_outcome(race(use_permit(w), never_ends(w), fails_after(little)))); break;
        case 10:
            if (depth < 2) {
                co_await open_family(w, r, depth);
            }
            break;
        case 11:
            w.tick.set();
            static_cast<void>(co_await move_on_after(little, use_thing(w, false)));
            break;
        case 12:
            static_cast<void>(co_await as_outcome(supervise(on_failure::restart(backoff(1us), 5), restarts, std::ref(w))));
            break;
        default: co_await yield();
    }
}

task<> script(world& w, std::uint64_t seed, int depth, counted) {
    dice random(seed);
    const auto steps = 2 + random() % 8;
    const guard busy = w.node.guard();
    for (std::uint64_t i = 0; i < steps; ++i) {
        co_await one_step(w, random(), depth);
        if (random() % 40 == 0) {
            throw planted();
        }
    }
}

// Cancels now and then, stops once, and in the end lets everything go.
task<> chaos(world& w, std::vector<job>& jobs, std::uint64_t seed) {
    dice random(seed);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        co_await sleep_for(std::chrono::microseconds(random() % 60));
        if (random() % 3 == 0) {
            jobs[random() % jobs.size()].cancel();
        }
        if (random() % 16 == 0) {
            w.gate.set();
            w.gate.reset();
        }
    }
    w.node.shut_down();
    w.letters.close();
    w.gate.set();
}

struct totals {
    long episodes = 0;
    long jobs = 0;
    long completed = 0;
    long failed = 0;
    long cancelled = 0;
};

// What must be true when an episode is over.
void settle_accounts(world& w, const std::vector<job>& jobs, totals& t) {
    for (const job& j : jobs) {
        ASSERT_TRUE(j.is_finished());
        ++t.jobs;
        t.completed += j.state() == job_state::completed ? 1 : 0;
        t.failed += j.state() == job_state::failed ? 1 : 0;
        t.cancelled += j.state() == job_state::cancelled ? 1 : 0;
    }
    ASSERT_EQ(t.completed + t.failed + t.cancelled, t.jobs);
    ASSERT_EQ(w.frames.alive(), 0);
    ASSERT_EQ(w.permits.available(), 2U);
    ASSERT_EQ(w.permits.waiters_now() + w.lock.waiters_now() + w.gate.waiters_now() + w.letters.waiters_now(), 0U);
    ASSERT_LE(w.most_inside.load(), 2);
    ASSERT_EQ(w.inside.load(), 0);
    ASSERT_FALSE(w.lock.is_locked());
    ASSERT_EQ(w.under_the_lock, w.locked_adds.load());
    long left = 0;
    while (w.letters.try_receive()) {
        ++left;
    }
    // A receiver that was cancelled with a letter in its hand has passed it on: none is lost, none is doubled.
    ASSERT_EQ(w.received.load() + left, w.sent.load());
    ASSERT_EQ(w.doubled, 0);
    ASSERT_EQ(w.node.guard_count(), 0U);
    ASSERT_TRUE(is_complete(w.node.state()));
    ASSERT_EQ(w.things.stats().out, 0U);
    ASSERT_TRUE(w.things.close_blocking());
    ASSERT_EQ(w.resources.alive(), 0);
}

void play(executor& where, std::uint64_t seed, totals& t, const std::function<void()>& run) {
    dice random(seed);
    world w;
    w.one_thread = seed % 2 == 0;
    std::vector<job> jobs;
    {
        root_scope root(where);
        const auto n = 8 + static_cast<int>(random() % 24);
        for (int i = 0; i < n; ++i) {
            jobs.push_back(root.launch("script", script(w, random(), 0, counted(w.frames))));
        }
        const job trouble = root.launch("chaos", chaos(w, jobs, random()));
        root.close();
        run();
        root.join_blocking();
        ASSERT_EQ(trouble.state(), job_state::completed);
    }
    settle_accounts(w, jobs, t);
    ++t.episodes;
}

void episode(std::uint64_t seed, runtime& rt, totals& t) {
    if (seed % 2 == 0) {
        roost::testing::virtual_time clock(seed + 1);
        play(clock, seed, t, [&] { clock.run(); });
    } else {
        play(rt.get_executor(), seed, t, [] {});
    }
}

// A thousand in line and one thread that pushes in: everybody is served.
task<> in_line(semaphore& s, std::atomic<long>& mine, std::atomic<long>& unserved, std::atomic<bool>& over) {
    while (!over.load()) {
        auto p = co_await s.acquire();
        if (mine.fetch_add(1) == 0) {
            unserved.fetch_sub(1);
        }
    }
}
void fairness(runtime& rt, const quiet& q) {
    semaphore s(1, "contested");
    std::atomic<long> unserved{1000};
    std::atomic<bool> over{false};
    std::deque<std::atomic<long>> served(1000);
    root_scope root(rt);
    semaphore::permit first = s.try_acquire();
    for (auto& mine : served) {
        root.launch("in line", in_line(s, mine, unserved, over));
    }
    root.close();
    while (s.waiters_now() < served.size()) {
        std::this_thread::yield();
    }
    first.give_back();
    long pushed_in = 0;
    std::thread barging([&] {
        while (unserved.load() > 0) {
            pushed_in += s.try_acquire() ? 1 : 0;
        }
        over = true;
    });
    barging.join();
    root.join_blocking();
    long most = 0;
    long least = served[0].load();
    for (const auto& mine : served) {
        most = std::max(most, mine.load());
        least = std::min(least, mine.load());
    }
    EXPECT_GE(least, 1);
    EXPECT_EQ(s.available(), 1U);
    q.say("fairness: 1000 waiters served between %ld and %ld times, a barging thread %ld", least, most, pushed_in);
}

TEST(gauntlet_soak, GAUNTLET_30_a_seeded_mix_of_everything) {
    const quiet q("scenario 30");
    const double seconds = gauntlet::from_environment("ROOST_SOAK_SECONDS", 2);
    const char* again = std::getenv("ROOST_SOAK_SEED");
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    totals t;
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    long warm = 0;
    double warm_at = 0;
    {
        runtime rt(runtime_options().workers(2));
        fairness(rt, q);
        std::uint64_t seed = again != nullptr ? std::strtoull(again, nullptr, 10) : random_u64() >> 16U;
        do {
            episode(seed, rt, t);
            if (HasFatalFailure() || HasNonfatalFailure()) {
                std::printf("  replay with ROOST_SOAK_SEED=%llu\n", static_cast<unsigned long long>(seed));
                break;
            }
            ++seed;
            if (warm == 0 && elapsed() > seconds / 4) {
                warm = quiet::resident();
                warm_at = elapsed();
            }
        } while (again == nullptr && elapsed() < seconds);
    }
    set_failure_sink(before);
    const double minutes = (elapsed() - warm_at) / 60;
    const double slope = warm == 0 || minutes <= 0 ? 0 : static_cast<double>(quiet::resident() - warm) / (1 << 20) / minutes;
    if (seconds >= 60 && !gauntlet::sanitized) {
        EXPECT_LT(slope, 1.0) << "megabytes a minute";
    }
    q.say("%ld episodes, %ld jobs: %ld completed, %ld failed, %ld cancelled; memory %+.2f MB/min", t.episodes, t.jobs,
          t.completed, t.failed, t.cancelled, slope);
}

}  // namespace
