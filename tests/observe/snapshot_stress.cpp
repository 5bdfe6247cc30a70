// Snapshots of a tree that two workers change all the time: every row is true, nothing is torn, memory is bounded.
#include <roost/observe/snapshot.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/with_scope.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;

namespace {

int scaled(int full) {
    const char* text = std::getenv("ROOST_STRESS_SCALE");
    const double scale = text == nullptr ? 0.05 : std::atof(text);
    return std::max(20, static_cast<int>(full * scale));
}

// A job whose name, wait and line belong together, so that a torn row is noticed.
task<> first_kind(mutex& m) {
    auto mine = co_await m.lock();
    co_await yield();
}
constexpr unsigned first_line = __LINE__ - 3;
task<> second_inner(event& e) { co_await move_on_after(20us, e.wait()); }
constexpr unsigned second_line = __LINE__ - 1;
task<> second_kind(event& e) {
    co_await with_scope(
        [](scope& s, event& on) -> task<> {
            s.launch("second inner", second_inner(on));
            co_await second_inner(on);
        },
        std::ref(e));
}

task<> churn(scope& s, mutex& m, event& never, const std::atomic<bool>& over) {
    while (!over.load(std::memory_order_relaxed)) {
        s.launch("first", first_kind(m));
        s.launch("second", second_kind(never));
        co_await s.room();
    }
}

void check(const snapshot_row& r, const std::map<std::uint64_t, std::uint32_t>& depths) {
    if (r.name == "first" && !r.waits_on.empty()) {
        EXPECT_EQ(r.waits_on, "mutex 'shared'");
        EXPECT_TRUE(r.stack.ends_with("snapshot_stress.cpp:" + std::to_string(first_line))) << r.stack;
    }
    if (r.name == "second inner" && !r.waits_on.empty()) {
        ADD_FAILURE() << "it waits in its deadline: " << r.to_string();
    }
    if (r.name == "deadline" && !r.stack.empty()) {
        EXPECT_TRUE(r.stack.find("snapshot_stress.cpp:" + std::to_string(second_line)) != std::string_view::npos)
            << r.to_string();
        EXPECT_EQ(r.waits_on, "event 'never'");
    }
    EXPECT_NE(r.id, 0U);
    if (const auto up = depths.find(r.parent); up != depths.end()) {
        EXPECT_EQ(r.depth, up->second + 1);
    }
}

TEST(snapshot_stress, OBS_106_every_row_is_true_under_churn) {
    runtime rt(runtime_options().workers(2));
    mutex shared("shared");
    event never("never");
    std::atomic<bool> over{false};
    owned_scope root(rt, scope_options("root").at_most(300).report_failures());
    root.launch("churn", [](owned_scope& in, mutex& m, event& e, std::atomic<bool>& end) -> task<> {
        co_await with_scope(scope_options("all").at_most(200), churn, std::ref(m), std::ref(e), std::ref(end));
        static_cast<void>(in);
    }(root, shared, never, over));
    std::size_t rows = 0;
    std::size_t waiting = 0;
    for (int round = scaled(20'000); round > 0; --round) {
        snapshot_page at;
        std::map<std::uint64_t, std::uint32_t> depths;
        while (!at.is_end()) {
            const tree_snapshot page =
                snapshot(root.tree_node(), snapshot_options().nodes(100 + std::size_t(round) % 50), at);
            for (const snapshot_row& r : page.rows()) {
                depths[r.id] = r.depth;
                check(r, depths);
                ++rows;
                waiting += r.stack.empty() ? 0 : 1;
            }
        }
        if (round % 64 == 0) {
            static_cast<void>(snapshot(root.tree_node()).to_json());
        }
        if (::testing::Test::HasFailure()) {
            break;
        }
    }
    over.store(true);
    root.close_blocking();
    EXPECT_GT(rows, 0U);
    EXPECT_GT(waiting, 0U);
    // Only the root still has a number, as soon as the last worker has destroyed its job.
    for (const time_point limit = now() + 10s; detail::node_ids::size() != 1 && now() < limit;) {
        std::this_thread::yield();
    }
    EXPECT_EQ(detail::node_ids::size(), 1U);
}

}  // namespace
