// Scenario 11: whatever nests, nests a hundred thousand deep, on a small stack, at a cost in proportion to the depth: building,
// cancelling, failing, returning, timing out, aborting.

#include <roost/base/failure_sink.hpp>
#include <roost/observe/dump.hpp>

#include "../task/rig.hpp"
#include "linear.hpp"
#include "nesting.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <vector>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;
using gauntlet::expect_linear;
using gauntlet::quiet;
using gauntlet::thread_cpu_time;

enum class finish { cancelled, fails, returns, times_out, aborted };
const char* named(finish how) {
    constexpr const char* names[] = {"cancelled", "fails", "returns", "times out", "aborted"};
    return names[static_cast<int>(how)];
}
constexpr finish three[] = {finish::cancelled, finish::fails, finish::returns};
constexpr finish all[] = {finish::cancelled, finish::fails, finish::returns, finish::times_out, finish::aborted};

// The first rows in full in every build. Unoptimised builds take the others a tenth as deep; ROOST_DEEP=1 takes all in full.
struct row {
    const char* name;
    nesting::level_function level;
    bool in_full;
    bool ignores_cancel = false;
};
constexpr row rows[] = {{"jobs", nesting::jobs, true},
                        {"scopes", nesting::scopes, true},
                        {"deadlines", nesting::deadlines, true},
                        {"shields", nesting::shields, true},
                        {"races", nesting::races, true},
                        {"frames", nesting::frames, false},
                        {"outcomes", nesting::outcomes, false},
                        {"exits", nesting::exits, false},
                        {"guards", nesting::guards, false, true},
                        {"late", nesting::late, false},
                        {"interrupted", nesting::interrupted, false},
                        {"retries", nesting::retries, false},
                        {"generators", nesting::generators, false},
                        {"guarded_jobs", nesting::guarded_jobs, false, true},
                        {"families", nesting::families, false},
                        {"launches", nesting::launches, false},
                        {"selects", nesting::selects, false},
                        {"shared", nesting::shared, false},
                        {"coalesced", nesting::coalesced, false},
                        {"limits", nesting::limits, false},
                        {"collects", nesting::collects, false},
                        {"supervised", nesting::supervised_levels, false},
                        {"closes", nesting::closes, false},
                        {"hops", nesting::hops, false},
                        {"groups", nesting::groups, false},
                        {"failing_groups", nesting::failing_groups, false},
                        {"races_to_the_right", nesting::races_to_the_right, false},
                        {"successes", nesting::successes, false},
                        {"maps", nesting::maps, false}};

bool is_quick() {
#if defined(__OPTIMIZE__)
    return gauntlet::sanitized;
#else
    return gauntlet::from_environment("ROOST_DEEP", 0) == 0;
#endif
}
int depth_of(const row& r, finish how) {
    const bool in_full = !is_quick() || (!gauntlet::sanitized && r.in_full && how == finish::cancelled);
    return in_full ? 100'000 : 10'000;
}

task<int> limited_to_a_second(nesting::level_function level, int depth, nesting::bottom& b) {
    const auto got = co_await move_on_after(1s, level(depth, b));
    co_return got.value_or(-1);
}

std::chrono::nanoseconds cost_of(const row& r, finish how, int depth) {
    rig::stage s;
    nesting::bottom b;
    b.fails = how == finish::fails;
    b.executor = s.executor;
    const shutdown never_stopped("stops");
    b.stops = never_stopped.observe();
    const auto began = thread_cpu_time();
    const job j = s.play(how == finish::times_out ? limited_to_a_second(r.level, depth, b) : r.level(depth, b));
    EXPECT_TRUE(b.reached);
    switch (how) {
        case finish::cancelled: j.cancel(reason(reason_kind::requested, "from the top")); break;
        case finish::aborted: j.abort(); break;
        case finish::times_out: s.advance(1s); break;
        case finish::fails:
        case finish::returns: b.wait.set(); break;
    }
    s.run();
    if (r.ignores_cancel) {
        b.wait.set();
        s.run();
    }
    const auto took = thread_cpu_time() - began;
    EXPECT_TRUE(j.is_finished()) << r.name << ' ' << named(how);
    return took;
}

std::ostream& operator<<(std::ostream& out, const row& r) { return out << r.name; }
class linear : public ::testing::TestWithParam<row> {};

TEST_P(linear, GAUNTLET_11_JOB_104_nesting_costs_in_proportion_to_its_depth) {
    const quiet q("scenario 11");
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    const row& r = GetParam();
    std::vector<finish> ways(std::begin(three), std::end(three));
    if (!is_quick() || r.ignores_cancel || r.in_full) {
        ways.assign(std::begin(all), std::end(all));
    }
    for (const finish how : ways) {
        const int depth = depth_of(r, how);
        expect_linear(q, r.name, named(how), depth, depth / 200 > 100 ? 100 : 50,
                      [&](int levels) { return cost_of(r, how, levels); });
    }
    set_failure_sink(before);
}
INSTANTIATE_TEST_SUITE_P(gauntlet, linear, ::testing::ValuesIn(rows), [](const auto& p) { return p.param.name; });

std::chrono::nanoseconds cost_of_dump(int depth) {
    rig::stage s;
    nesting::bottom b;
    const job j = s.play(nesting::jobs(depth, b));
    const auto began = thread_cpu_time();
    const std::string text = dump(j, dump_options().nodes(static_cast<std::size_t>(depth) * 3).bytes(1 << 20).depth(256));
    const auto took = thread_cpu_time() - began;
    EXPECT_FALSE(text.empty());
    b.wait.set();
    s.run();
    return took;
}
TEST(gauntlet_linear, GAUNTLET_11_JOB_104_a_dump_costs_in_proportion_to_the_depth) {
    const quiet q("scenario 11");
    expect_linear(q, "jobs", "dumped", is_quick() ? 10'000 : 100'000, 50, cost_of_dump);
}

}  // namespace
