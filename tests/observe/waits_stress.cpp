// Random waits on four workers while other threads look for cycles, list the waits and dump the tree. No cycle exists, so none may
// be found; primitives die and are made again at the same addresses, so an owner that is named must be one of the same primitive.
#include <roost/flow/when_all.hpp>
#include <roost/observe/dump.hpp>
#include <roost/observe/waits.hpp>
#include <roost/pool/pool.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/condition.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/shared_mutex.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;

namespace {

int scaled(int full) {
    const char* text = std::getenv("ROOST_STRESS_SCALE");
    const double scale = text == nullptr ? 0.05 : std::atof(text);
    return std::max(200, static_cast<int>(full * scale));
}

// Everything that jobs take, in this order: a job takes only what comes after all that it holds. So there is no cycle.
class things {
public:
    static constexpr std::size_t of_each = 4;
    std::array<mutex, of_each> mutexes;
    std::array<shared_mutex, of_each> tables;
    std::array<semaphore, of_each> limits{semaphore(1), semaphore(2), semaphore(3), semaphore(2)};
    pool<int> db{pool_options(2, "db"), [] { return 1; }};
    static constexpr std::size_t count = 3 * of_each + 1;

    std::atomic<std::uint64_t> waits{0};
};

using dice = std::minstd_rand;
bool one_in(dice& d, unsigned n) { return d() % n == 0; }

task<> use(things& all, std::size_t from, unsigned seed);

task<> use_below(scope& s, things& all, std::size_t from, unsigned seed) {
    for (unsigned i = 0; i < 1 + seed % 2; ++i) {
        s.launch("inner", use(all, from, seed * 7 + i));
    }
    co_await use(all, from, seed * 5);
}

// Holds what it has taken while it goes on with what comes after that.
task<> go_on(things& all, std::size_t next, unsigned seed) {
    dice d(seed + 1);
    if (one_in(d, 4)) {
        co_await yield();
    }
    if (next >= things::count) {
        co_return;
    }
    if (one_in(d, 8)) {
        co_await with_scope(use_below, std::ref(all), next, seed + 3);
    } else if (one_in(d, 8)) {
        co_await when_all(use(all, next, seed + 4), use(all, next, seed + 5));
    } else {
        co_await use(all, next, seed + 6);
    }
}

task<> use(things& all, std::size_t from, unsigned seed) {
    dice d(seed + 1);
    const std::size_t at = from + d() % 6;
    if (at >= things::count) {
        co_return;
    }
    ++all.waits;
    const std::size_t i = at % things::of_each;
    if (at < things::of_each) {
        auto held = co_await all.mutexes[i].lock();
        if (one_in(d, 4)) {
            mutex::guard moved = std::move(held);
            held = std::move(moved);
        }
        co_await go_on(all, at + 1, seed + 2);
    } else if (at < 2 * things::of_each && one_in(d, 4)) {
        auto held = co_await all.tables[i].lock();
        co_await go_on(all, at + 1, seed + 2);
    } else if (at < 2 * things::of_each) {
        auto held = co_await all.tables[i].lock_shared();
        co_await go_on(all, at + 1, seed + 2);
    } else if (at < 3 * things::of_each && one_in(d, 3)) {
        auto held = co_await with_deadline(all.limits[i].acquire(), now() + 1ms);
        co_await go_on(all, at + 1, seed + 2);
    } else if (at < 3 * things::of_each) {
        auto held = co_await all.limits[i].acquire();
        co_await go_on(all, at + 1, seed + 2);
    } else {
        auto held = (co_await all.db.acquire()).value();
        co_await go_on(all, at + 1, seed + 2);
    }
}

task<> use_often(things& all, std::uint64_t waits, unsigned seed) {
    while (all.waits.load() < waits) {
        co_await use(all, 0, ++seed * 1009);
    }
}

// Looks until it is told to stop.
template <class Look>
class looking {
public:
    explicit looking(Look look)
        : thread_([this, look] {
              while (!stop_.load()) {
                  look();
                  ++looks_;
              }
          }) {}
    ~looking() { end(); }
    std::uint64_t end() {
        stop_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
        return looks_.load();
    }

private:
    std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> looks_{0};
    std::thread thread_;
};

TEST(waits_stress, OBS_229_no_cycle_is_found_where_there_is_none) {
    set_owner_tracking(true);
    runtime on(runtime_options().workers(4));
    {
        things all;
        owned_scope root(on, scope_options("root"));
        std::atomic<std::uint64_t> found{0};
        std::atomic<std::uint64_t> owned{0};
        looking cycles([&] {
            for (const wait_cycle& c : find_cycles(root)) {
                ++found;
                ADD_FAILURE() << c.to_string();
            }
        });
        looking lists([&] {
            for (const waiting_job& w : waits(root)) {
                owned += w.owners.size();
            }
        });
        const auto waits_wanted = static_cast<std::uint64_t>(scaled(1'000'000));
        for (unsigned i = 0; i < 24; ++i) {
            root.launch("job", use_often(all, waits_wanted, i * 7919));
        }
        root.close_blocking();
        EXPECT_GT(cycles.end(), 0U);
        EXPECT_GT(lists.end(), 0U);
        EXPECT_EQ(found.load(), 0U);
        EXPECT_GE(all.waits.load(), waits_wanted);
        EXPECT_GT(owned.load(), 0U);
        EXPECT_TRUE(all.db.close_blocking());
    }
    set_owner_tracking(false);
}

// --- primitives that die ---------------------------------------------------------------------------------------------------

constexpr std::array<const char*, 8> names{"0", "1", "2", "3", "4", "5", "6", "7"};

mutex* made(std::size_t name) {
    switch (name) {
        case 0: return new mutex("0");
        case 1: return new mutex("1");
        case 2: return new mutex("2");
        case 3: return new mutex("3");
        case 4: return new mutex("4");
        case 5: return new mutex("5");
        case 6: return new mutex("6");
        default: return new mutex("7");
    }
}

// The last holder destroys the mutex.
task<> contend(mutex* m, std::atomic<int>* users) {
    {
        auto held = co_await m->lock();
        for (const time_point until = now() + 200us; now() < until;) {
            co_await yield();
        }
    }
    if (--*users == 0) {
        delete users;
        delete m;
    }
}

task<> churn(scope& s, std::size_t name, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        constexpr int jobs = 3;
        mutex* const m = made(name);
        auto* const users = new std::atomic<int>(jobs);
        for (int j = 0; j < jobs; ++j) {
            s.launch(names[name], contend(m, users));
        }
        if (i % 16 == 0) {
            co_await yield();
        }
    }
}

TEST(waits_stress, OBS_228_an_owner_is_one_of_the_same_primitive) {
    set_owner_tracking(true);
    runtime on(runtime_options().workers(4));
    {
        owned_scope root(on, scope_options("root").at_most(64));
        std::atomic<std::uint64_t> named{0};
        looking lists([&] {
            for (const waiting_job& w : waits(root)) {
                for (const wait_owner& o : w.owners) {
                    ++named;
                    if (o.job && o.job.name() != w.name) {
                        ADD_FAILURE() << w.to_string();
                    }
                }
            }
        });
        looking dumps([&] {
            const std::string text = dump(root, dump_options().ungrouped());
            for (std::size_t at = 0; (at = text.find("waits on mutex '", at)) != std::string::npos; ++at) {
                const std::size_t line = text.find('\n', at);
                const char name = text[at + 16];
                const std::size_t by = text.find("by job '", at);
                if (by < line && text[by + 8] != name) {
                    ADD_FAILURE() << text.substr(at, line - at);
                }
            }
        });
        looking switches([] {
            std::this_thread::sleep_for(20ms);
            set_owner_tracking(false);
            set_owner_tracking(true);
        });
        const int rounds = scaled(20'000) / static_cast<int>(names.size());
        owned_scope makers(on, scope_options("makers"));
        for (std::size_t i = 0; i < names.size(); ++i) {
            makers.launch("maker", churn(root, i, rounds));
        }
        makers.close_blocking();
        root.close_blocking();
        lists.end();
        dumps.end();
        switches.end();
        EXPECT_GT(named.load(), 0U);
        RecordProperty("named", std::to_string(named.load()));
    }
    set_owner_tracking(false);
}

// --- cycles that are there ---------------------------------------------------------------------------------------------------

task<> take_both(mutex& first, mutex& second, std::atomic<int>& holding) {
    auto one = co_await first.lock();
    ++holding;
    while (holding.load() < 2) {
        co_await yield();
    }
    auto two = co_await second.lock();
}

TEST(waits_stress, OBS_223_a_cycle_is_found_while_others_run) {
    set_owner_tracking(true);
    runtime on(runtime_options().workers(4));
    for (int round = scaled(400); round > 0; --round) {
        things all;
        owned_scope root(on, scope_options("root"));
        for (unsigned i = 0; i < 4; ++i) {
            root.launch("other", use_often(all, 50, i * 7919 + static_cast<unsigned>(round)));
        }
        mutex a("a");
        mutex b("b");
        std::atomic<int> holding{0};
        const job first = root.launch("first", take_both(a, b, holding));
        const job second = root.launch("second", take_both(b, a, holding));
        std::vector<wait_cycle> found;
        const time_point until = now() + 20s;
        while (found.empty() && now() < until) {
            found = find_cycles(root);
        }
        ASSERT_EQ(found.size(), 1U);
        ASSERT_EQ(found[0].jobs.size(), 2U) << found[0].to_string();
        EXPECT_EQ(found[0].jobs[0].owners.at(0).job, found[0].jobs[1].job);
        first.cancel();
        root.close_blocking();
        EXPECT_TRUE(second.is_finished());
        EXPECT_TRUE(all.db.close_blocking());
    }
    set_owner_tracking(false);
}

}  // namespace
