#include "../harness/harness.hpp"
#include "../harness/roost_coroutine.hpp"

#include <roost/shutdown/shutdown.hpp>
#include <roost/shutdown/tracking.hpp>
#include <roost/sync/event.hpp>

namespace {

void cycle(roost::shutdown const& on, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const guard = on.guard();
        bench::keep(&guard);
    }
}

// With a guard held, as on a node that is busy; without, every guard announces itself to all ancestors and takes it back.
bench::sample guards(bench::budget b, int depth, bool is_busy) {
    roost::shutdown const root("root");
    roost::shutdown on = root;
    for (int i = 1; i < depth; ++i) on = on.child();
    roost::guard held;
    if (is_busy) held = on.guard();
    return bench::per_op(b, [&](std::uint64_t n) { cycle(on, n); });
}

bench::queued interrupted(bench::run_queue&, roost::shutdown& server, roost::event& ready, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const passed = co_await server.interrupt(ready.wait());
        bench::keep(passed);
    }
}

} // namespace

BENCH_OURS("shutdown/guard_1t") { return guards(b, 1, true); }
BENCH_OURS("shutdown/guard_untracked_1t") {
    roost::observe::set_guard_tracking(roost::observe::guard_tracking::off);
    return guards(b, 1, true);
}
BENCH_OURS("shutdown/guard_coarse_1t") {
    roost::observe::set_guard_tracking(roost::observe::guard_tracking::coarse);
    return guards(b, 1, true);
}
BENCH_OURS("shutdown/guard_exact_1t") {
    roost::observe::set_guard_tracking(roost::observe::guard_tracking::exact);
    return guards(b, 1, true);
}
BENCH_OURS("shutdown/guard_depth_2") { return guards(b, 2, true); }
BENCH_OURS("shutdown/guard_depth_4") { return guards(b, 4, true); }
BENCH_OURS("shutdown/guard_crossing_depth_4") { return guards(b, 4, false); }

BENCH_OURS("shutdown/guard_untracked_2t") {
    roost::observe::set_guard_tracking(roost::observe::guard_tracking::off);
    roost::shutdown const root("root");
    auto const held = root.guard();
    return bench::per_op_threads(b, 2, [&](unsigned, std::uint64_t n) { cycle(root, n); });
}

// Two threads on two children of one node: nothing is shared while both children are busy.
BENCH_OURS("shutdown/guard_siblings_2t") {
    roost::shutdown const root("root");
    roost::shutdown const each[] = {root.child(), root.child()};
    roost::guard const held[] = {each[0].guard(), each[1].guard()};
    return bench::per_op_threads(b, 2, [&](unsigned me, std::uint64_t n) { cycle(each[me], n); });
}

BENCH_OURS("shutdown/guard_2t") {
    roost::shutdown const root("root");
    auto const held = root.guard();
    return bench::per_op_threads(b, 2, [&](unsigned, std::uint64_t n) { cycle(root, n); });
}

BENCH_OURS("shutdown/interrupt_ready") {
    roost::shutdown server("server");
    roost::event ready;
    ready.set();
    bench::run_queue queue;
    return bench::per_op(b, [&](std::uint64_t n) { interrupted(queue, server, ready, n).start(); });
}

namespace {

bench::sample make_and_drop(bench::budget b, std::size_t siblings) {
    roost::shutdown const root("root");
    std::vector<roost::shutdown> others;
    for (std::size_t i = 0; i < siblings; ++i) others.push_back(root.child());
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const child = root.child();
            bench::keep(&child);
        }
    });
}

// Only the call is timed.
bench::sample stop_children(bench::budget b, std::size_t count) {
    auto const s = bench::measure(b, [count](std::uint64_t n) {
        double took = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            roost::shutdown const root("root");
            std::vector<roost::shutdown> all;
            all.reserve(count);
            for (std::size_t k = 0; k < count; ++k) all.push_back(root.child());
            auto const start = bench::clock::now();
            root.shut_down();
            took += bench::ns_since(start);
        }
        return took;
    });
    return {s.value / static_cast<double>(count), s.ops * count};
}

// Take and drop one more guard while `live` others are held.
bench::sample guard_among(bench::budget b, std::size_t live) {
    roost::shutdown const root("root");
    std::vector<roost::guard> held;
    held.reserve(live);
    for (std::size_t i = 0; i < live; ++i) held.push_back(root.guard());
    return bench::per_op(b, [&](std::uint64_t n) { cycle(root, n); });
}

} // namespace

BENCH_OURS("shutdown/child") { return make_and_drop(b, 0); }
BENCH_OURS("shutdown/child_of_1000") { return make_and_drop(b, 1000); }
BENCH_OURS("shutdown/stop_children_1k") { return stop_children(b, 1'000); }
BENCH_OURS("shutdown/stop_children_100k") { return stop_children(b, 100'000); }
BENCH_OURS("scale/guards_1k") { return guard_among(b, 1'000); }
BENCH_OURS("scale/guards_100k") { return guard_among(b, 100'000); }
BENCH_OURS("scale/guards_1m") { return guard_among(b, 1'000'000); }

BENCH_OURS("shutdown/guard_count_1k") {
    roost::shutdown const root("root");
    std::vector<roost::shutdown> all;
    for (int k = 0; k < 1000; ++k) all.push_back(root.child());
    auto const held = all.front().guard();
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) bench::keep(root.guard_count());
    });
}

// A thousand children with a guard each: who keeps the program from ending.
BENCH_OURS("shutdown/report_1k") {
    roost::shutdown const root("root");
    std::vector<roost::shutdown> all;
    std::vector<roost::guard> held;
    for (int k = 0; k < 1000; ++k) {
        all.push_back(root.child());
        held.push_back(all.back().guard());
    }
    if (root.report().total() != 1000) std::abort();
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) bench::keep(root.report().total());
    });
}
