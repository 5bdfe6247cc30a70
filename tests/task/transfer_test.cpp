// Teardown and completion without recursion, however deep the nesting; chains of frames: gauntlet/depth_stress.cpp.
#include <roost/sync/event.hpp>
#include <roost/task/detail/transfer.hpp>
#include <roost/task/scope.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

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

}  // namespace
