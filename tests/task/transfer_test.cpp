// Teardown and completion without recursion, however deep the nesting; chains of frames: gauntlet/depth_stress.cpp.
#include <roost/sync/event.hpp>
#include <roost/task/detail/frame/transfer.hpp>
#include <roost/task/scope.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace roost;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || ROOST_ASAN
constexpr int depth = 20'000;  // sanitizers keep freed frames; the stack would still overflow by far if it grew
#else
constexpr int depth = 100'000;
#endif
task<> nest_scopes(scope& s, int left, event& e);
task<> open_scope(int left, event& e) { co_await with_scope(nest_scopes, left, std::ref(e)); }
task<> nest_scopes(scope&, int left, event& e) {
    if (left > 0) {
        co_await open_scope(left - 1, e);
    } else {
        co_await e.wait();
    }
}

TEST(transfer, TASK_8_deeply_nested_scopes_are_cancelled_and_destroyed_without_recursion) {
    rig::stage s;
    event e;
    const job j = s.play(open_scope(depth, e));
    EXPECT_EQ(e.waiters_now(), 1U);
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
}

// Children of children of children, each one waiting for the next.
task<> spawn_chain(scope& s, int left, event& e);
task<> open_chain(int left, event& e) { co_await with_scope(spawn_chain, left, std::ref(e)); }
task<> spawn_chain(scope& s, int left, event& e) {
    if (left > 0) {
        s.launch("next", open_chain(left - 1, e));
    } else {
        co_await e.wait();
    }
}

TEST(transfer, TASK_8_a_deep_chain_of_jobs_completes_and_is_cancelled_without_recursion) {
    for (const bool cancel : {false, true}) {
        rig::stage s;
        event e;
        const job j = s.play(open_chain(depth, e));
        EXPECT_EQ(j.state(), job_state::active);
        if (cancel) {
            j.cancel();
        } else {
            e.set();
        }
        s.run();
        EXPECT_EQ(e.waiters_now(), 0U);
        EXPECT_EQ(j.state(), job_state::completed) << "its body had returned before the cancel";
    }
}

// A chain of frames. More of it, with the stack measured: gauntlet/depth_stress.cpp.
task<int> await_chain(int left, event& e, bool fails) {
    if (left > 0) {
        const int below = co_await await_chain(left - 1, e, fails);
        co_return below + 1;
    }
    co_await e.wait();
    if (fails) {
        throw std::runtime_error("at the bottom");
    }
    co_return 0;
}
task<> keep_length(event& e, bool fails, int& length) { length = co_await await_chain(depth, e, fails); }

TEST(transfer, TASK_8_a_deep_chain_of_awaits_returns_throws_and_is_cancelled_without_recursion) {
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    for (const job_state last : {job_state::completed, job_state::failed, job_state::cancelled}) {
        rig::stage s;
        event e;
        int length = 0;
        const job j = s.play(keep_length(e, last == job_state::failed, length));
        EXPECT_EQ(e.waiters_now(), 1U);
        if (last == job_state::cancelled) {
            j.cancel();
        } else {
            e.set();
        }
        s.run();
        EXPECT_EQ(j.state(), last);
        EXPECT_EQ(length, last == job_state::completed ? depth : 0);
    }
    set_failure_sink(before);
}

// --- from the bottom up ------------------------------------------------------------------------------------------------------

constexpr std::size_t node_count = 301;
constexpr std::size_t children_each = 3;

class grown_tree {
public:
    event never;
    job jobs[node_count];
    std::size_t ended = 0;
};
// At the end of a node's frame, which comes before the end of its job.
class last_look {
public:
    last_look(grown_tree& t, std::size_t mine) : tree_(&t), mine_(mine) {}
    last_look(const last_look&) = delete;
    last_look& operator=(const last_look&) = delete;
    ~last_look() {
        ++tree_->ended;
        EXPECT_FALSE(tree_->jobs[mine_].is_finished());
        for (std::size_t i = children_each * mine_ + 1; i <= children_each * (mine_ + 1) && i < node_count; ++i) {
            EXPECT_TRUE(tree_->jobs[i].is_finished()) << i << " below " << mine_;
        }
    }

private:
    grown_tree* tree_;
    std::size_t mine_;
};
task<> grow(grown_tree& t, std::size_t mine);
task<> grow_children(scope& s, grown_tree& t, std::size_t mine) {
    for (std::size_t i = children_each * mine + 1; i <= children_each * (mine + 1) && i < node_count; ++i) {
        t.jobs[i] = s.launch("node", grow(t, i));
    }
    co_await t.never.wait();
}
task<> grow(grown_tree& t, std::size_t mine) {
    const last_look look(t, mine);
    co_await with_scope(grow_children, std::ref(t), mine);
}

TEST(transfer, TASK_10_every_node_of_a_cancelled_tree_ends_before_its_parent) {
    grown_tree t;
    rig::stage s;
    t.jobs[0] = s.play(grow(t, 0));
    EXPECT_EQ(t.never.waiters_now(), node_count);
    t.jobs[0].cancel();
    s.run();
    EXPECT_EQ(t.ended, node_count);
    for (const job& j : t.jobs) {
        EXPECT_EQ(j.state(), job_state::cancelled);
    }
}

}  // namespace
