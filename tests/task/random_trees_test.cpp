// Random trees of jobs against a sequential model. Every job draws its plan from the seed: children, a duration, and how it
// ends (value, failure), whether it has a deadline, whether somebody cancels it at some time, whether it is supervised. The model
// computes from the same plan when every job ends and how; the library runs it on virtual time. All times in a tree are
// different, so the answer is unique.
//
// To replay: ROOST_SEED=<seed> task_test --gtest_filter='random_trees.<the test that failed>'

#include <roost/task/as_outcome.hpp>
#include <roost/task/root.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/supervise.hpp>
#include <roost/task/timeout.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace roost;

namespace {

using ticks = std::int64_t;
constexpr ticks never = INT64_MAX;

enum class how : std::uint8_t { value, failure, cancelled, timeout };

// One job: starts its children at once, works for `work` ticks, then ends or throws.
struct plan {
    int id = 0;
    ticks work = 0;
    bool throws = false;
    bool supervised = false;
    ticks deadline = never;  // its own
    ticks cancel_at = never;  // somebody beside it cancels it then
    std::vector<std::unique_ptr<plan>> children;

    // Filled in by the model and by the run.
    how expected = how::value;
    ticks expected_end = 0;
    how seen = how::value;
    ticks seen_end = -1;
};

class plan_error : public std::runtime_error {
public:
    explicit plan_error(int who) : std::runtime_error("plan"), id(who) {}
    int id;
};

class maker {
public:
    maker(std::uint64_t seed, int size) : random_(seed), left_(size) {}

    std::unique_ptr<plan> make(int depth) {
        auto p = std::make_unique<plan>();
        p->id = next_id_++;
        --left_;
        p->work = unique_time();
        p->throws = chance(depth == 0 ? 0 : 8);
        p->supervised = chance(25);
        if (chance(15)) {
            p->deadline = unique_time();
        }
        if (depth > 0 && chance(10)) {
            p->cancel_at = unique_time();
        }
        const int children = depth < 12 ? pick(0, depth == 0 ? 40 : 4) : 0;
        for (int i = 0; i < children && left_ > 0; ++i) {
            p->children.push_back(make(depth + 1));
        }
        return p;
    }

private:
    bool chance(int percent) { return pick(0, 99) < percent; }
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
    // No two times in a tree are the same: the low digits are the number of the draw.
    ticks unique_time() { return ticks(pick(1, 1000)) * 1'000'000 + (++drawn_); }

    std::mt19937_64 random_;
    int left_;
    int next_id_ = 0;
    ticks drawn_ = 0;
};

// --- the model: when and how a job ends, if it is cancelled at `cut` (relative to the common start) -----------------------
//
// All jobs start at time zero. Inside a job: body until `work`; children; first failure (body or, unless supervised, child)
// cancels the rest at that moment. Cancelled jobs end at the moment of the cancel, because everything they wait in can be
// cancelled. A failure before the cut outranks it, and so does the value of a body that has returned before it; a deadline of
// its own makes such a value late. A cut at the very moment of a failure is the one that this failure caused.

class result {
public:
    how ends = how::value;
    ticks at = 0;
};

result model(plan& p, ticks cut);

// Without looking at the cut: when would something in it fail first?
ticks first_failure(plan& p, ticks cut) {
    ticks at = p.throws && p.work <= cut ? p.work : never;
    if (!p.supervised) {
        for (auto& c : p.children) {
            const result r = model(*c, std::min(cut, c->cancel_at));
            if (r.ends == how::failure) {
                at = std::min(at, r.at);
            }
        }
    }
    return at;
}

result model(plan& p, ticks cut) {
    const ticks limit = std::min(cut, p.deadline);
    const ticks failed = first_failure(p, limit);
    const ticks inner_cut = std::min(limit, failed);
    ticks last = std::min(p.work, inner_cut);
    for (auto& c : p.children) {
        last = std::max(last, model(*c, std::min(inner_cut, c->cancel_at)).at);
        if (c->cancel_at != never) {
            last = std::max(last, std::min(inner_cut, c->cancel_at));  // the one who cancels it is a child too
        }
    }
    result r;
    r.at = last;
    if (failed != never) {
        r.ends = how::failure;
    } else if (last >= limit && limit != never) {
        r.ends = limit != cut ? how::timeout : p.work < cut ? how::value : how::cancelled;
    }
    p.expected = r.ends;
    p.expected_end = r.at;
    return r;
}

// --- the same with the library -------------------------------------------------------------------------------------------

class world {
public:
    explicit world(std::uint64_t seed) : time(seed), began(time.now()) {}
    [[nodiscard]] ticks now() { return (time.now() - began).count(); }
    roost::testing::virtual_time time;
    time_point began;
};

task<> run_plan(world& w, plan& p);

task<> work_and_end(plan& p) {
    co_await sleep_for(duration(p.work));
    if (p.throws) {
        throw plan_error(p.id);
    }
}
task<> cancel_later(job j, ticks at) {
    co_await sleep_for(duration(at));
    j.cancel();
}
task<> in_scope(scope& s, world& w, plan& p) {
    for (auto& c : p.children) {
        const job j = s.launch("planned", run_plan(w, *c));
        if (c->cancel_at != never) {
            s.launch("canceller", cancel_later(j, c->cancel_at));
        }
    }
    co_await work_and_end(p);
}
task<> child_again(world& w, plan& p) { return run_plan(w, p); }
task<> in_supervisor(supervisor& s, world& w, plan& p) {
    for (auto& c : p.children) {
        const job j = s.launch("planned", child_again, std::ref(w), std::ref(*c));
        if (c->cancel_at != never) {
            s.launch("canceller", cancel_later, j, c->cancel_at);
        }
    }
    co_await work_and_end(p);
}
task<> run_either(world& w, plan& p) {
    if (p.supervised) {
        auto ended = co_await supervise(on_failure::ignore(), in_supervisor, std::ref(w), std::ref(p));
        static_cast<void>(ended.value());
    } else {
        co_await with_scope(in_scope, std::ref(w), std::ref(p));
    }
}

// Notes when a job ends, and takes it for cancelled unless it is told something else.
class noted {
public:
    noted(world& w, plan& p) noexcept : world_(&w), plan_(&p) { p.seen = how::cancelled; }
    noted(const noted&) = delete;
    noted& operator=(const noted&) = delete;
    ~noted() { plan_->seen_end = world_->now(); }

private:
    world* world_;
    plan* plan_;
};

task<> run_plan(world& w, plan& p) {
    const noted end(w, p);
    try {
        if (p.deadline == never) {
            co_await run_either(w, p);
        } else {
            co_await fail_after(duration(p.deadline), run_either(w, p));
        }
        p.seen = how::value;
    } catch (const timed_out&) {
        p.seen = how::timeout;
        co_return;  // a value upwards: the model has no failing timeouts
    } catch (const plan_error&) {
        p.seen = how::failure;
        throw;
    }
}

task<> run_top(world& w, plan& p) {
    const auto ended = co_await as_outcome(run_plan(w, p));
    static_cast<void>(ended);
}

int compare(const plan& p, std::uint64_t seed) {
    int jobs = 1;
    EXPECT_EQ(static_cast<int>(p.seen), static_cast<int>(p.expected)) << "job " << p.id << ", seed " << seed;
    EXPECT_EQ(p.seen_end, p.expected_end) << "job " << p.id << ", seed " << seed;
    for (const auto& c : p.children) {
        jobs += compare(*c, seed);
    }
    return jobs;
}

int run_seed(std::uint64_t seed, int size) {
    auto tree = maker(seed, size).make(0);
    model(*tree, never);
    world w(seed);
    {
        root_scope root(w.time, "random tree");
        root.launch("top", run_top(w, *tree));
        root.close();
        w.time.run();
        EXPECT_TRUE(root.has_ended()) << "seed " << seed;
    }
    EXPECT_EQ(w.time.leaks(), "") << "seed " << seed;
    return compare(*tree, seed);
}

// A seed draws another tree when the size is another: a replay uses the size of the test that failed.
constexpr int small_tree = 2'000;
constexpr int large_tree = 10'000;

TEST(random_trees, JOB_50_random_trees_end_as_the_sequential_model_says) {
    if (const char* replay = std::getenv("ROOST_SEED")) {
        run_seed(std::strtoull(replay, nullptr, 10), small_tree);
        return;
    }
    int jobs = 0;
    for (std::uint64_t seed = 1; jobs < 10000 && seed < 2000; ++seed) {
        jobs += run_seed(seed, small_tree);
        if (HasFailure()) {
            return;
        }
    }
    EXPECT_GE(jobs, 10000);
    RecordProperty("jobs", jobs);
}

int size_of(const plan& p) {
    int jobs = 1;
    for (const auto& c : p.children) {
        jobs += size_of(*c);
    }
    return jobs;
}

// One tree of ten thousand jobs, from the first seeds that draw one.
TEST(random_trees, JOB_50_ten_thousand_jobs_in_one_tree) {
    if (const char* replay = std::getenv("ROOST_SEED")) {
        run_seed(std::strtoull(replay, nullptr, 10), large_tree);
        return;
    }
    int trees = 0;
    for (std::uint64_t seed = 1; trees < 2 && seed < 5000; ++seed) {
        if (size_of(*maker(seed, large_tree).make(0)) < large_tree) {
            continue;
        }
        ++trees;
        EXPECT_EQ(run_seed(seed, large_tree), large_tree) << "seed " << seed;
    }
    EXPECT_EQ(trees, 2);
}

}  // namespace
