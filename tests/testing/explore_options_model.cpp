#include <roost/testing/explore_gtest.hpp>

#include "general_limit.hpp"

#include "planted.hpp"
#include "sample_event.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdio>

// How a search is steered: bounds, limits, random walks, minimised schedules, replay strings, the self-check, and speed.

#if defined(ROOST_SEAM_MODEL)

namespace rt = roost::testing;
using namespace roost;
using namespace roost::ext;
using namespace roost::seam;

namespace {

// Fails only if the other thread runs between two particular steps, twice.
void two_windows() {
    atomic<int> phase{0};
    thread other([&] {
        int expected = 1;
        if (phase.compare_exchange_strong(expected, 2, mo::acq_rel, mo::relaxed)) {
            expected = 3;
            phase.compare_exchange_strong(expected, 4, mo::acq_rel, mo::relaxed);
        }
    });
    int expected = 0;
    phase.compare_exchange_strong(expected, 1, mo::acq_rel, mo::relaxed);
    expected = 2;
    phase.compare_exchange_strong(expected, 3, mo::acq_rel, mo::relaxed);
    other.join();
    rt::check(phase.load(mo::relaxed) != 4, "phase four is never reached");
}

void small_model() {
    atomic<int> x{0}, y{0};
    thread other([&] {
        x.store(1, mo::release);
        (void)y.load(mo::acquire);
    });
    y.store(1, mo::release);
    (void)x.load(mo::acquire);
    other.join();
}

void lost_update() {
    atomic<int> counter{0};
    const auto increment = [&] { counter.store(counter.load(mo::relaxed) + 1, mo::relaxed); };
    thread a(increment);
    thread b(increment);
    a.join();
    b.join();
    rt::check(counter.load(mo::relaxed) == 2, "both increments count");
}

}  // namespace

// Tests with a limit that nothing can keep, and what a model that wants the whole makes of it.
class tiny_general_limit {
public:
    tiny_general_limit() { setenv("ROOST_MODEL_SECONDS", "0.000001", 1); }
    ~tiny_general_limit() { unsetenv("ROOST_MODEL_SECONDS"); }
    tiny_general_limit(const tiny_general_limit&) = delete;
    tiny_general_limit& operator=(const tiny_general_limit&) = delete;
    without_general_limit outer;
};

void four_counters() {
    atomic<int> x{0}, y{0}, z{0}, last{0};
    const auto count = [&] {
        x.fetch_add(1, mo::acq_rel);
        y.fetch_add(1, mo::acq_rel);
        z.fetch_add(1, mo::acq_rel);
        last.fetch_add(1, mo::acq_rel);
    };
    thread one(count);
    thread two(count);
    count();
    one.join();
    two.join();
    rt::check(x.load(mo::relaxed) == 3, "none is lost");
}

TEST(explore_options, EXPL_70_a_model_that_wants_the_whole_is_not_shortened) {
    const tiny_general_limit limit;
    const rt::result cut = rt::explore({.memory = rt::memory::sc}, four_counters);
    EXPECT_TRUE(cut.ok() && cut.cut) << cut.summary();
    const rt::result whole = rt::explore({.memory = rt::memory::sc, .seconds = 60, .whole = true}, four_counters);
    EXPECT_TRUE(whole.ok() && whole.complete && !whole.cut) << whole.summary();
    EXPECT_EQ(whole.bound, rt::unbounded);
    EXPECT_GT(whole.executions, cut.executions);
}

TEST(explore_options, EXPL_70_a_model_that_wants_the_whole_fails_when_it_was_cut) {
    EXPECT_NONFATAL_FAILURE(rt::explore_all(four_counters, {.whole = true, .max_executions = 10}),
                            "not every interleaving was tried");
    EXPECT_TRUE(rt::explore_all(four_counters, {.memory = rt::memory::sc, .max_executions = 10}).ok()) << "else it may be";
}

TEST(explore_options, EXPL_7_preemption_bound_limits_the_search) {
    const auto r0 = rt::explore({.name = "w", .memory = rt::memory::sc, .preemption_bound = 0}, two_windows);
    EXPECT_TRUE(r0.ok() && r0.complete && r0.bound == 0) << r0.report("w");
    const auto r2 = rt::explore({.name = "w", .memory = rt::memory::sc, .preemption_bound = 2}, two_windows);
    EXPECT_STREQ(to_string(r2.verdict), "assertion");
}

// A choice before the first switch of threads must not be taken for a preemption.
TEST(explore_options, EXPL_6_a_bounded_search_with_choices_misses_nothing_within_its_bound) {
    for (const bool chooses : {false, true}) {
        const auto lost_update = [chooses] {
            const int step = chooses ? 1 + static_cast<int>(rt::choose(2)) : 1;
            atomic<int> x{0};
            const auto add = [&] { x.store(x.load(mo::seq_cst) + step, mo::seq_cst); };
            thread other(add);
            add();
            other.join();
            rt::check(x.load(mo::seq_cst) == 2 * step, "an update is lost");
        };
        EXPECT_FOUND(rt::verdict::assertion, {.memory = rt::memory::sc, .preemption_bound = 1}, lost_update);
    }
}

TEST(explore_options, EXPL_8_schedule_is_minimised) {
    rt::options how{.name = "lost update", .search = rt::search::random, .memory = rt::memory::sc, .seed = 5};
    how.minimise = false;
    const auto raw = rt::explore(how, lost_update);
    how.minimise = true;
    const auto small = rt::explore(how, lost_update);
    ASSERT_STREQ(to_string(small.verdict), "assertion");
    EXPECT_LE(small.preemptions, raw.preemptions);
    EXPECT_EQ(small.preemptions, 1U) << small.report("lost update");
    EXPECT_NE(small.trace.find("is preempted before"), std::string::npos) << small.trace;
}

TEST(explore_options, EXPL_9_replay_string_names_its_model) {
    const auto r = rt::explore({.name = "mine"}, lost_update);
    EXPECT_EQ(r.choices.rfind("mine/sc:", 0), 0U) << r.choices;
    setenv("ROOST_REPLAY", ("other" + r.choices.substr(4)).c_str(), 1);
    const auto unaffected = rt::explore({.name = "mine"}, small_model);
    unsetenv("ROOST_REPLAY");
    EXPECT_TRUE(unaffected.ok());
    EXPECT_GT(unaffected.executions, 1U);
}

TEST(explore_options, EXPL_41_random_walk_and_pct_find_a_bug_and_repeat_with_their_seed) {
    for (const rt::search how : {rt::search::random, rt::search::pct}) {
        rt::options o{.name = "lost update", .search = how, .max_executions = 2000, .seed = 42};
        const auto a = rt::explore(o, lost_update);
        const auto b = rt::explore(o, lost_update);
        EXPECT_STREQ(to_string(a.verdict), "assertion");
        EXPECT_EQ(a.executions, b.executions);
        EXPECT_FALSE(a.complete);
    }
}

TEST(explore_options, EXPL_42_limits_are_kept_and_reported) {
    const auto many = [] {
        atomic<int> x{0};
        const auto work = [&] {
            for (int i = 0; i < 8; ++i) {
                x.fetch_add(1, mo::relaxed);
            }
        };
        thread a(work), b(work), c(work);
        a.join();
        b.join();
        c.join();
    };
    const without_general_limit own_limits;
    const auto by_count = rt::explore({.name = "many", .preemption_bound = rt::unbounded, .max_executions = 100}, many);
    EXPECT_TRUE(by_count.ok() && !by_count.complete);
    EXPECT_EQ(by_count.executions, 200U);  // a hundred in each memory mode
    const auto by_time = rt::explore({.name = "many", .memory = rt::memory::sc, .seconds = 0.05}, many);
    EXPECT_TRUE(by_time.ok() && !by_time.complete);
    const auto by_steps = rt::explore({.name = "many", .max_steps = 10}, many);
    EXPECT_STREQ(to_string(by_steps.verdict), "livelock");
}

TEST(explore_options, EXPL_43_self_check_repeats_executions) {
    const auto r = rt::explore({.name = "self-check", .recheck_every = 1}, small_model);
    EXPECT_TRUE(r.ok());
    EXPECT_EQ(r.rechecked, r.executions);
}

TEST(explore_options, EXPL_44_choices_are_tried_exhaustively) {
    unsigned seen = 0;
    const auto r =
        rt::explore({.name = "choices", .recheck_every = 0}, [&] { seen |= 1U << (rt::choose(3) * 3 + rt::choose(3)); });
    EXPECT_TRUE(r.ok() && r.complete);
    EXPECT_EQ(seen, 0x1ffU);
}

TEST(explore_options, EXPL_45_spurious_wakes_and_failures_are_choices) {
    const auto wait_once = [] {
        atomic<std::uint32_t> word{0};
        thread waker([&] {
            word.store(1, mo::release);
            wake_on(&word, 1);
        });
        wait_on(word, 0);  // one call is not enough if it may return early
        rt::check(word.load(mo::acquire) == 1, "the word has changed");
        waker.join();
    };
    EXPECT_TRUE(rt::explore({.name = "exact", .memory = rt::memory::sc}, wait_once).ok());
    EXPECT_STREQ(to_string(rt::explore({.name = "early", .spurious_wakes = true}, wait_once).verdict), "assertion");
    const auto claim_once = [] {
        atomic<int> x{0};
        int expected = 0;
        rt::check(x.compare_exchange_weak(expected, 1, mo::relaxed, mo::relaxed), "a weak exchange succeeded");
    };
    EXPECT_TRUE(rt::explore({.name = "exact"}, claim_once).ok());
    EXPECT_STREQ(to_string(rt::explore({.name = "weak", .spurious_failures = true}, claim_once).verdict), "assertion");
}

TEST(explore_options, EXPL_71_old_values_are_read_so_many_times_in_a_row) {
    const auto three_looks = [] {
        atomic<int> x{0};
        thread other([&] { x.store(1, mo::release); });
        atomic<int> told{0};
        thread teller([&] { told.store(x.load(mo::relaxed), mo::relaxed); });
        if (told.load(mo::relaxed) == 1) {  // x has been written, and nothing orders that before what follows
            const bool seen = x.load(mo::relaxed) == 1 || x.load(mo::relaxed) == 1 || x.load(mo::relaxed) == 1;
            rt::check(seen, "one of three looks saw it");
        }
        other.join();
        teller.join();
    };
    EXPECT_TRUE(rt::explore({.name = "twice", .memory = rt::memory::weak}, three_looks).ok());
    EXPECT_STREQ(to_string(rt::explore({.name = "thrice", .memory = rt::memory::weak, .old_reads = 3}, three_looks).verdict),
                 "assertion");
}

TEST(explore_options, EXPL_46_freed_memory_is_quarantined_or_reissued) {
    const auto same = [](rt::reuse reuse) {
        bool equal = false;
        const auto r = rt::explore({.name = "reuse", .reuse = reuse}, [&] {
            void* a = allocate(32);
            deallocate(a, 32);
            void* b = allocate(32);
            deallocate(b, 32);
            equal = a == b;
        });
        EXPECT_TRUE(r.ok());
        return equal;
    };
    EXPECT_FALSE(same(rt::reuse::quarantine));
    EXPECT_TRUE(same(rt::reuse::reissue));
}

TEST(explore_options, EXPL_47_globals_start_every_execution_afresh) {
    static atomic<int> global{7};
    const auto r = rt::explore({.name = "global"}, [] {
        thread other([] { global.fetch_add(1, mo::relaxed); });
        global.fetch_add(1, mo::relaxed);
        other.join();
        rt::check(global.load(mo::relaxed) == 9, "nothing is left from the execution before");
    });
    EXPECT_TRUE(r.ok() && r.complete) << r.report("global");
    EXPECT_GT(r.executions, 1U);
}

TEST(explore_options, EXPL_48_executions_per_second) {
    rt::options how{.name = "speed", .search = rt::search::dfs, .memory = rt::memory::sc, .seconds = 1};
    how.preemption_bound = rt::unbounded;
    std::uint64_t executions = 0;
    double seconds = 0;
    while (seconds < 0.5) {
        const auto r = rt::explore(how, small_model);
        ASSERT_TRUE(r.ok() && r.complete);
        executions += r.executions;
        seconds += r.seconds;
    }
    const double rate = static_cast<double>(executions) / seconds;
    std::printf("  %.0f executions per second on a model of two threads and five steps\n", rate);
    RecordProperty("executions_per_second", std::to_string(rate));
    EXPECT_GT(rate, 1000);  // a sanity limit: the figure depends on the machine and the build
}

#endif
