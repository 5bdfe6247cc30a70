// A snapshot of a large tree, page by page, at rest and while jobs come and go on another thread.
#include "../harness/harness.hpp"

#include <roost/observe/snapshot.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/this_task.hpp>

#include <atomic>

using namespace roost;

namespace {

constexpr int waiting_jobs = 100'000;

task<> wait_for(event& e) { co_await e.wait(); }
task<> nothing() { co_return; }
task<> churn(owned_scope& in, const std::atomic<bool>& over) {
    while (!over.load(std::memory_order_relaxed)) {
        for (int i = 0; i < 32; ++i) {
            in.launch("short", nothing());
        }
        co_await yield();
    }
}

bench::sample pages(bench::budget b, bool churns) {
    runtime rt(runtime_options().workers(1));
    event go("go");
    std::atomic<bool> over{false};
    owned_scope root(rt, scope_options("root").report_failures());
    for (int i = 0; i < waiting_jobs; ++i) {
        root.launch("request", wait_for(go));
    }
    if (churns) {
        root.launch("churn", churn(root, over));
    }
    observe::snapshot_page at;
    const bench::sample measured = bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            if (at.is_end()) {
                at = observe::snapshot_page();
            }
            const observe::tree_snapshot page =
                observe::snapshot(root.tree_node(), observe::snapshot_options().nodes(1000), at);
            bench::keep(page.visited());
        }
    });
    over.store(true);
    go.set();
    root.close_blocking();
    return measured;
}

}  // namespace

BENCH_OURS("observe/snapshot_page") { return pages(b, false); }
BENCH_OURS("observe/snapshot_page_churn") { return pages(b, true); }
