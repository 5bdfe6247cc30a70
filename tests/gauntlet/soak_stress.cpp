// Scenario 30: a mix of everything, drawn from a seed, with cancels, timeouts, stops, failures and restarts; after every episode
// the world has to be as a sequential program would have left it. Episodes with an even seed run on virtual time and are the
// same every time; the others run on real threads. ROOST_SOAK_SECONDS says how long. Seeds are written to the standard error
// stream before they are used, so that no way to end loses them: ROOST_SOAK_SEED plays an episode again, or with
// ROOST_SOAK_EPISODES as many from there on.

#include <roost/base/failure_sink.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/observe/dump.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/testing/virtual_time.hpp>

#include "quiet.hpp"
#include "soak_steps.hpp"
#include "soak_watch.hpp"
#include "soak_world.hpp"

#include <gtest/gtest.h>

#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <utility>

namespace {

using namespace soak;
using gauntlet::quiet;
using dice = std::mt19937_64;

// --- scripts -----------------------------------------------------------------------------------------------------------------
// What is known of a job from outside.
struct seat {
    job j;
    std::atomic<ending> how{ending::unwound};
    std::atomic<bool> cancelled{false};
};
// A job's hold on its seat; counts down the attendance once, also if the job never runs.
class place {
public:
    place() = default;
    place(world& in, seat& mine) : world_(&in), seat_(&mine) {}
    place(place&& other) noexcept
        : world_(std::exchange(other.world_, nullptr)), seat_(std::exchange(other.seat_, nullptr)) {}
    ~place() { arrive(); }
    void arrive() {
        if (world* w = std::exchange(world_, nullptr)) {
            w->present.fetch_add(1);
            w->attendance.count_down();
        }
    }
    void ended(ending how) {
        if (seat_ != nullptr) {
            seat_->how = how;
        }
    }

private:
    world* world_ = nullptr;
    seat* seat_ = nullptr;
};

struct stage {
    world w;
    long jobs;
    explicit stage(long n) : w(static_cast<std::uint32_t>(n)), jobs(n) {}
};
task<> script(stage& on, std::uint64_t seed, int depth, counted, place where);

task<> family(scope& s, stage& on, std::uint64_t seed, int depth) {
    for (int i = 0; i < 3; ++i) {
        s.launch("child", script(on, seed + static_cast<std::uint64_t>(i), depth + 1, counted(on.w.frames), place()));
    }
    co_await yield();
}
task<> open_family(stage& on, std::uint64_t seed, int depth) { co_await with_scope(family, std::ref(on), seed, depth); }

task<> one_step(stage& on, std::uint64_t r, int depth) {
    world& w = on.w;
    const duration little = std::chrono::microseconds(r / 32 % 200);
    const auto bits = r / 8192;
    switch (r % 26) {
        case 0: co_await use_permit(w); break;
        case 1: co_await use_lock(w); break;
        case 2: co_await use_thing(w, bits % 2 == 0); break;
        case 3: co_await send_some(w, 2, little); break;
        case 4: static_cast<void>(co_await move_on_after(little, receive_some(w, 3))); break;
        case 5: co_await sleep_for(little); break;
        case 6: static_cast<void>(co_await move_on_after(little, never_ends(w))); break;
        case 7: static_cast<void>(co_await as_outcome(fail_after(little, use_permit(w)))); break;
        case 8: co_await shield(1s, use_lock(w)); break;
        case 9: static_cast<void>(co_await as_outcome(race(use_permit(w), never_ends(w), fails_after(little)))); break;
        case 10:
            if (depth < 2) {
                co_await open_family(on, r, depth);
            }
            break;
        case 11: static_cast<void>(co_await move_on_after(little, use_thing(w, false))); break;
        case 12: co_await be_restarted(w, static_cast<long>(bits % 8)); break;
        case 13: co_await read_table(w); break;
        case 14: co_await write_table(w, bits % 2 == 0); break;
        case 15: co_await put_one(w, little / 2); break;
        case 16: co_await take_one(w); break;
        case 17: static_cast<void>(co_await move_on_after(little, take_one(w))); break;
        case 18: co_await choose(w, little); break;
        case 19: w.set_tick(); break;
        case 20: static_cast<void>(co_await move_on_after(little, take_tick(w))); break;
        case 21: co_await meet(w, little); break;
        case 22: co_await be_first(w, static_cast<int>(bits % 2), bits / 2 % 3 == 0); break;
        case 23:
            w.print();
            static_cast<void>(co_await move_on_after(little, read_news(w, 3)));
            break;
        case 24: static_cast<void>(co_await move_on_after(little, follow_headline(w, 3))); break;
        default: co_await count_up(w, static_cast<long>(bits % 5), static_cast<long>(bits / 8 % 5)); break;
    }
}
task<> any_step(stage& on, std::uint64_t r, int depth) {
    if (r % 10 == 0) {
        co_await serve(on.w, on.w.parts[r / 16 % world::departments], r / 64);
    } else if (r % 10 == 1) {
        const duration little = std::chrono::microseconds(r / 32 % 200);
        static_cast<void>(co_await move_on_after(little, wait_for_all(on.w, on.jobs)));
    } else {
        co_await one_step(on, r / 10, depth);
    }
}

task<> script(stage& on, std::uint64_t seed, int depth, counted, place where) {
    where.arrive();
    dice random(seed);
    const guard busy = on.w.node.guard();
    try {
        const auto steps = 2 + random() % 8;
        for (std::uint64_t i = 0; i < steps; ++i) {
            co_await any_step(on, random(), depth);
            if (random() % 40 == 0) {
                throw planted();
            }
        }
        where.ended(ending::returned);
    } catch (...) {
        where.ended(ending::threw);
        throw;
    }
}

// Cancels and stops now and then, and in the end lets everything go.
task<> chaos(stage& on, std::deque<seat>& seats, std::uint64_t seed) {
    world& w = on.w;
    dice random(seed);
    for (std::size_t i = 0; i < seats.size(); ++i) {
        co_await sleep_for(std::chrono::microseconds(random() % 60));
        if (random() % 3 == 0) {
            seat& victim = seats[random() % seats.size()];
            victim.cancelled = true;
            victim.j.cancel();
        }
        if (random() % 16 == 0) {
            w.gate.set();
            w.gate.reset();
        }
        if (random() % 20 == 0) {
            w.parts[random() % world::departments].node.shut_down();
        }
        if (random() % 4 == 0) {
            w.print();
        }
        if (random() % 8 == 0) {
            w.set_tick();
        }
    }
    if (w.one_thread) {
        co_await sleep_for(1h);  // until everything else stands still
        w.judge_standstill();
    }
    w.node.shut_down();
    w.letters.close();
    w.news.close();
    w.headline.close();
    auto held = co_await w.store.lock();
    w.store_closed = true;
    w.not_empty.notify_all();
    w.gate.set();
}

// --- episodes ----------------------------------------------------------------------------------------------------------------
struct totals {
    long episodes = 0;
    long jobs = 0;
    long completed = 0;
    long failed = 0;
    long cancelled = 0;
    long interrupted = 0;
    long letters = 0;
    long restarts = 0;
};

// Each job has ended as its body did.
void settle_jobs(const std::deque<seat>& seats, totals& t) {
    for (const seat& s : seats) {
        ASSERT_TRUE(s.j.is_finished());
        ++t.jobs;
        switch (s.how.load()) {
            case ending::returned:
                ++t.completed;
                ASSERT_EQ(s.j.state(), job_state::completed);
                break;
            case ending::threw:
                ++t.failed;
                ASSERT_EQ(s.j.state(), job_state::failed);
                break;
            case ending::unwound:
                ++t.cancelled;
                ASSERT_EQ(s.j.state(), job_state::cancelled);
                ASSERT_TRUE(s.cancelled.load()) << "nobody had cancelled it";
                break;
        }
    }
}

std::string play(executor& where, std::uint64_t seed, totals& t, soak::watchdog& dog, const std::function<void()>& run) {
    dice random(seed);
    const auto n = 8 + static_cast<long>(random() % 24);
    stage on(n);
    on.w.one_thread = seed % 2 == 0;
    std::deque<seat> seats(static_cast<std::size_t>(n));
    {
        owned_scope root(where, scope_options("root").report_failures());
        const soak::watchdog::shift in_time(dog, seed, [&root] { return roost::observe::dump(root); });
        for (department& d : on.w.parts) {
            root.launch("completion", see_completion(on.w, d));
        }
        for (seat& s : seats) {
            s.j = root.launch("script", script(on, random(), 0, counted(on.w.frames), place(on.w, s)));
        }
        const job trouble = root.launch("chaos", chaos(on, seats, random()));
        root.request_close();
        run();
        root.close_blocking();
        EXPECT_EQ(trouble.state(), job_state::completed);
    }
    on.w.settle();
    settle_jobs(seats, t);
    ++t.episodes;
    t.interrupted += on.w.interrupted.load();
    t.letters += on.w.received.count();
    t.restarts += on.w.restarts.load();
    return on.w.summary();
}

std::string episode(std::uint64_t seed, runtime& rt, totals& t, soak::watchdog& dog) {
    if (seed % 2 == 0) {
        roost::testing::virtual_time clock(seed + 1);
        return play(clock, seed, t, dog, [&] { clock.run(); });
    }
    return play(rt.get_executor(), seed, t, dog, [] {});
}

TEST(gauntlet_soak, GAUNTLET_30_a_seeded_mix_of_everything) {
    const quiet q("scenario 30");
    const double seconds = gauntlet::from_environment("ROOST_SOAK_SECONDS", 2);
    const char* again = std::getenv("ROOST_SOAK_SEED");
    const auto episodes = static_cast<long>(gauntlet::from_environment("ROOST_SOAK_EPISODES", 1));
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    totals t;
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    long warm = 0;
    double warm_at = 0;
    {
        soak::watchdog dog;
        runtime rt(runtime_options().workers(2));
        std::uint64_t seed = again != nullptr ? std::strtoull(again, nullptr, 10) : roost::seam::random_u64() >> 16U;
        soak::announce(seed);
        {
            totals unused;
            const std::uint64_t even = seed & ~std::uint64_t(1);
            EXPECT_EQ(episode(even, rt, unused, dog), episode(even, rt, unused, dog))
                << "seed " << even << " does not repeat";
        }
        while (!HasFailure() && (again != nullptr ? t.episodes < episodes : t.episodes == 0 || elapsed() < seconds)) {
            if (t.episodes > 0 && t.episodes % soak::batch == 0) {
                soak::announce(seed);
            }
            episode(seed, rt, t, dog);
            if (HasFailure()) {
                std::printf("  replay with ROOST_SOAK_SEED=%llu\n", static_cast<unsigned long long>(seed));
            }
            ++seed;
            if (warm == 0 && elapsed() > seconds / 4) {
                ::malloc_trim(0);  // what is in use, not what the heap keeps
                warm = quiet::resident();
                warm_at = elapsed();
            }
        }
    }
    set_failure_sink(before);
    const double minutes = (elapsed() - warm_at) / 60;
    ::malloc_trim(0);
    const double slope = warm == 0 || minutes <= 0 ? 0 : static_cast<double>(quiet::resident() - warm) / (1 << 20) / minutes;
    if (seconds >= 60 && !gauntlet::sanitized) {
        EXPECT_LT(slope, 1.0) << "megabytes a minute";
    }
    q.say(
        "%ld episodes, %ld jobs: %ld completed, %ld failed, %ld cancelled; %ld letters, %ld restarts, %ld waits ended by a "
        "stop; memory %+.2f MB/min",
        t.episodes, t.jobs, t.completed, t.failed, t.cancelled, t.letters, t.restarts, t.interrupted, slope);
}

}  // namespace
