// Random trees of jobs against a sequential model. Every job draws its plan from the seed: children, a duration, and how it
// ends (value, failure), whether it has a deadline, whether it is cancelled at some time, whether its children are
// supervised and how (ignored, restarted after a backoff, escalated). A deadline that has passed is a failure upwards. The model
// computes from the same plan when every job ends and how, at its last attempt; the library runs it on virtual time. Times are
// drawn from so many that no two in a tree meet, so the answer is unique.
//
// To replay: ROOST_SEED=<seed> task_test --gtest_filter='random_trees.<the test that failed>'

#include <roost/base/failure_sink.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/sleep.hpp>
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
enum class care : std::uint8_t { none, ignore, restart, escalate };

// One job: starts its children at once, works for `work` ticks, then ends or throws. All times count from when it begins.
struct plan {
    int id = 0;
    ticks work = 0;
    bool may_throw = false;
    care children_are = care::none;
    std::uint32_t limit = 0;  // of restarts
    ticks backoff = 0;
    ticks deadline = never;  // its own
    ticks cancel_at = never;  // it is cancelled from outside then, counted from its parent's beginning
    std::vector<std::unique_ptr<plan>> children;

    // Filled in by the model and by the run.
    how expected = how::value;
    ticks expected_end = 0;
    how seen = how::value;
    ticks seen_end = -1;

    // `again`: how often it and those above it have been restarted.
    [[nodiscard]] bool throws(int again) const {
        return may_throw && (again == 0 || (static_cast<unsigned>(id) * 31U + static_cast<unsigned>(again) * 17U) % 3U != 0);
    }
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
        p->work = unique_time(depth);
        p->may_throw = chance(depth == 0 ? 0 : 8);
        if (depth == 0 || chance(80)) {  // without it the first failure would soon end the whole tree
            p->children_are = depth == 0 || chance(40) ? care::ignore : care(pick(2, 3));
            p->limit = static_cast<std::uint32_t>(pick(0, 2));
            p->backoff = unique_time(depth);
        }
        if (chance(depth == 0 ? 0 : 15)) {
            p->deadline = unique_time(depth);
        }
        if (depth > 0 && chance(10)) {
            p->cancel_at = unique_time(depth);
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
    // Shorter further down, so that much ends before something above does.
    ticks unique_time(int depth) {
        return std::uniform_int_distribution<ticks>(1'000, 1'000'000'000'000'000 >> depth)(random_);
    }

    std::mt19937_64 random_;
    int left_;
    int next_id_ = 0;
};

// --- the model: when and how a job ends that begins at `start` and is cancelled at `cut` ----------------------------------
//
// Inside a job: body until `work`; children, all from its beginning; the first failure (of the body, or of a child unless that
// is ignored or may be restarted) cancels the rest at that moment. Cancelled jobs end at the moment of the cancel, because
// everything they wait in can be cancelled. A failure before the cut outranks it, and so does the value of a body that has
// returned before it; a deadline of its own makes such a value late. A cut at the very moment of a failure, or of a deadline, is
// the one that it caused. What is expected of a job is what its last attempt does.

class result {
public:
    how ends = how::value;
    ticks at = 0;
};

result model(plan& p, ticks start, ticks cut, int again);

[[nodiscard]] bool has_failed(const result& r) { return r.ends == how::failure || r.ends == how::timeout; }
[[nodiscard]] ticks after(ticks start, ticks time) { return time == never ? never : start + time; }

// All attempts of one child. A failure is one that cancels its siblings.
result model_child(plan& p, plan& child, ticks start, ticks cut, int again) {
    cut = std::min(cut, after(start, child.cancel_at));
    ticks from = start;
    for (std::uint32_t restarts = 0;; ++restarts) {
        result r = model(child, from, cut, again + static_cast<int>(restarts));
        if (!has_failed(r)) {
            return r;
        }
        if (p.children_are == care::ignore) {
            r.ends = how::value;
            return r;
        }
        if (p.children_are != care::restart || restarts == p.limit) {
            return r;
        }
        from = r.at + p.backoff;
        if (from > cut) {
            return {how::cancelled, cut};
        }
    }
}

// When the last child has ended; and the first failure of one.
result model_children(plan& p, ticks start, ticks cut, int again) {
    result all;
    all.at = start;
    ticks failed = never;
    for (auto& c : p.children) {
        const result r = model_child(p, *c, start, cut, again);
        all.at = std::max(all.at, r.at);
        if (c->cancel_at != never) {
            all.at = std::max(all.at, std::min(cut, start + c->cancel_at));  // the one who cancels it is a child too
        }
        if (has_failed(r)) {
            failed = std::min(failed, r.at);
        }
    }
    if (failed != never) {
        all = {how::failure, failed};
    }
    return all;
}

result model(plan& p, ticks start, ticks cut, int again) {
    const ticks deadline = after(start, p.deadline);
    const ticks limit = std::min(cut, deadline);
    const ticks returns = start + p.work;
    result children = model_children(p, start, limit, again);
    ticks failed = p.throws(again) && returns <= limit ? returns : never;
    if (children.ends == how::failure) {
        failed = std::min(failed, children.at);
    }
    const ticks inner_cut = std::min(limit, failed);
    if (failed != never) {
        children = model_children(p, start, inner_cut, again);
    }
    result r;
    r.at = std::max(children.at, std::min(returns, inner_cut));
    if (failed != never) {
        r.ends = how::failure;
    } else if (r.at >= limit && limit != never) {
        r.ends = deadline <= cut ? how::timeout : returns < cut ? how::value : how::cancelled;
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

task<> run_plan(world& w, plan& p, int again);

task<> work_and_end(plan& p, int again) {
    co_await sleep_for(duration(p.work));
    if (p.throws(again)) {
        throw plan_error(p.id);
    }
}
task<> cancel_later(job j, ticks at) {
    co_await sleep_for(duration(at));
    j.cancel();
}
task<> in_scope(scope& s, world& w, plan& p, int again) {
    for (auto& c : p.children) {
        const job j = s.launch("planned", run_plan(w, *c, again));
        if (c->cancel_at != never) {
            s.launch("canceller", cancel_later(j, c->cancel_at));
        }
    }
    co_await work_and_end(p, again);
}
task<> next_attempt(world& w, plan& p, const std::shared_ptr<int>& again) { return run_plan(w, p, (*again)++); }
task<> in_supervisor(supervisor& s, world& w, plan& p, int again) {
    for (auto& c : p.children) {
        const job j = s.launch("planned", next_attempt, std::ref(w), std::ref(*c), std::make_shared<int>(again));
        if (c->cancel_at != never) {
            s.launch("canceller", cancel_later, j, c->cancel_at);
        }
    }
    co_await work_and_end(p, again);
}
on_failure care_of(const plan& p) {
    switch (p.children_are) {
        case care::ignore: return on_failure::ignore();
        case care::restart: return on_failure::restart(backoff(duration(p.backoff)).factor(1), p.limit);
        default: return on_failure::escalate();
    }
}
task<> run_either(world& w, plan& p, int again) {
    if (p.children_are != care::none) {
        auto ended = co_await supervise(care_of(p), in_supervisor, std::ref(w), std::ref(p), again);
        static_cast<void>(ended.value());
    } else {
        co_await with_scope(in_scope, std::ref(w), std::ref(p), again);
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

task<> run_plan(world& w, plan& p, int again) {
    const noted end(w, p);
    const ticks start = w.now();
    try {
        if (p.deadline == never) {
            co_await run_either(w, p, again);
        } else {
            co_await fail_after(duration(p.deadline), run_either(w, p, again));
        }
        p.seen = how::value;
    } catch (const timed_out&) {  // its own, or that of a job below: then it is a failure like any other
        p.seen = p.deadline != never && w.now() == start + p.deadline ? how::timeout : how::failure;
        throw;
    } catch (const plan_error&) {
        p.seen = how::failure;
        throw;
    }
}

task<> run_top(world& w, plan& p) {
    const auto ended = co_await as_outcome(run_plan(w, p, 0));
    static_cast<void>(ended);
}

int endings[4] = {};

int compare(const plan& p, std::uint64_t seed) {
    int jobs = 1;
    ++endings[static_cast<int>(p.seen)];
    EXPECT_EQ(static_cast<int>(p.seen), static_cast<int>(p.expected)) << "job " << p.id << ", seed " << seed;
    EXPECT_EQ(p.seen_end, p.expected_end) << "job " << p.id << ", seed " << seed;
    for (const auto& c : p.children) {
        jobs += compare(*c, seed);
    }
    return jobs;
}

int run_seed(std::uint64_t seed, int size) {
    auto tree = maker(seed, size).make(0);
    model(*tree, 0, never, 0);
    world w(seed);
    const failure_sink before =  // failures whose restart a cancel prevented
        set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    {
        owned_scope root(w.time, scope_options("random tree").report_failures());
        root.launch("top", run_top(w, *tree));
        root.request_close();
        w.time.run();
        EXPECT_TRUE(root.is_closed()) << "seed " << seed;
    }
    set_failure_sink(before);
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
    for (const int n : endings) {
        EXPECT_GT(n, 300) << "every way to end is common";
    }
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
