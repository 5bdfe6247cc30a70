#include "general_limit.hpp"

#include <roost/base/atomic.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

// The reduction must lose nothing: on random small programs, the set of outcomes of the reduced search equals the set of
// the plain depth-first search that tries every interleaving.

#if defined(ROOST_SEAM_MODEL)

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;

namespace {

enum class act : std::uint8_t { load, store, add, exchange, cas, lock_section, try_section, wait, set_and_wake, barrier };

struct instruction {
    act what;
    unsigned variable;
    int value;
    std::memory_order order;
};

using program = std::vector<std::vector<instruction>>;

std::uint64_t next(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

program make_program(std::uint64_t seed, unsigned threads, unsigned length, unsigned kinds) {
    constexpr std::memory_order loads[] = {mo::relaxed, mo::acquire, mo::seq_cst};
    constexpr std::memory_order stores[] = {mo::relaxed, mo::release, mo::seq_cst};
    constexpr std::memory_order both[] = {mo::relaxed, mo::acq_rel, mo::seq_cst};
    program p(threads);
    for (auto& body : p) {
        for (unsigned i = 0; i < length; ++i) {
            const auto what = static_cast<act>(next(seed) % kinds);
            const std::uint64_t o = next(seed) % 3;
            body.push_back(instruction{what, static_cast<unsigned>(next(seed) % 2), static_cast<int>(next(seed) % 3) + 1,
                                       what == act::load    ? loads[o]
                                       : what == act::store ? stores[o]
                                                            : both[o]});
        }
    }
    return p;
}

struct shared_state {
    std::array<atomic<int>, 2> variables;
    small_mutex lock;
    atomic<std::uint32_t> word{0};
};

int run_instruction(shared_state& s, const instruction& in) {
    atomic<int>& v = s.variables[in.variable];
    int expected = in.value - 1;
    switch (in.what) {
        case act::load: return v.load(in.order);
        case act::store: v.store(in.value, in.order); return 0;
        case act::add: return v.fetch_add(in.value, in.order);
        case act::exchange: return v.exchange(in.value, in.order);
        case act::cas: return v.compare_exchange_strong(expected, in.value, in.order, mo::relaxed) ? 9 : expected;
        case act::lock_section: {
            s.lock.lock();
            const int seen = v.load(mo::relaxed);
            s.lock.unlock();
            return seen;
        }
        case act::try_section: {
            const bool got = s.lock.try_lock();
            if (got) {
                s.lock.unlock();
            }
            return got ? 1 : 0;
        }
        case act::wait: return wait_on_until(s.word, 0, now() + std::chrono::seconds(1)) ? 1 : 0;
        case act::set_and_wake:
            s.word.store(1, mo::seq_cst);
            wake_on(&s.word, 1);
            return 0;
        case act::barrier: heavy_barrier(); return 0;
    }
    return 0;
}

std::set<std::string> outcomes(const program& p, rt::search how, rt::memory memory, std::uint64_t& executions,
                               int bound = rt::unbounded) {
    std::set<std::string> seen;
    rt::options o;
    o.name = "random program";
    o.search = how;
    o.memory = memory;
    o.preemption_bound = bound;
    o.seconds = 120;
    const without_general_limit unlimited;
    const rt::result r = rt::explore(o, [&] {
        auto s = std::make_unique<shared_state>();
        std::vector<std::string> results(p.size());
        {
            std::vector<thread> threads;
            for (std::size_t t = 0; t < p.size(); ++t) {
                threads.emplace_back([&, t] {
                    for (const instruction& in : p[t]) {
                        results[t] += std::to_string(run_instruction(*s, in)) + ",";
                    }
                });
            }
            for (thread& t : threads) {
                t.join();
            }
        }
        std::string all;
        for (const std::string& one : results) {
            all += one + ";";
        }
        seen.insert(all + std::to_string(s->variables[0].load(mo::seq_cst)) +
                    std::to_string(s->variables[1].load(mo::seq_cst)));
    });
    EXPECT_TRUE(r.ok() && r.complete) << r.report("random program");
    executions += r.executions;
    return seen;
}

void compare(unsigned programs, unsigned threads, unsigned length, unsigned kinds, rt::memory memory) {
    std::uint64_t all = 0;
    std::uint64_t reduced = 0;
    for (unsigned i = 0; i < programs; ++i) {
        const program p = make_program(i * 7919 + threads * 31 + length, threads, length, kinds);
        const auto by_dfs = outcomes(p, rt::search::dfs, memory, all);
        const auto by_dpor = outcomes(p, rt::search::exhaustive, memory, reduced);
        ASSERT_EQ(by_dfs, by_dpor) << "program " << i;
    }
    std::printf("  %u programs: %llu executions unreduced, %llu reduced\n", programs, static_cast<unsigned long long>(all),
                static_cast<unsigned long long>(reduced));
}

}  // namespace

TEST(explore_reduction, EXPL_5_reduced_search_finds_every_outcome_two_threads) {
    compare(300, 2, 3, 9, rt::memory::sc);
    compare(200, 2, 3, 10, rt::memory::weak);
}

TEST(explore_reduction, EXPL_5_reduced_search_finds_every_outcome_three_threads) {
    compare(100, 3, 2, 5, rt::memory::sc);
    compare(25, 3, 2, 9, rt::memory::sc);
    compare(40, 3, 2, 6, rt::memory::weak);
    compare(40, 3, 2, 10, rt::memory::weak);  // with heavy barriers and waits
}

TEST(explore_reduction, EXPL_6_bounded_search_finds_what_bounded_dfs_finds) {
    std::uint64_t all = 0;
    std::uint64_t reduced = 0;
    for (unsigned i = 0; i < 60; ++i) {
        const program p = make_program(i * 104729 + 5, 3, 2, 8);
        for (int bound = 0; bound < 3; ++bound) {
            const auto by_dfs = outcomes(p, rt::search::dfs, rt::memory::sc, all, bound);
            const auto by_dpor = outcomes(p, rt::search::exhaustive, rt::memory::sc, reduced, bound);
            for (const std::string& outcome : by_dfs) {
                ASSERT_TRUE(by_dpor.contains(outcome)) << "program " << i << " bound " << bound << ": " << outcome;
            }
        }
    }
}

#endif
