#include <roost/runtime/blocking.hpp>
#include <roost/runtime/runtime.hpp>

#include "fixture.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using namespace runtime_tests;

static_assert(!std::is_copy_constructible_v<decltype(blocking(+[](int) {}, 1))>);

int twice(int x) { return 2 * x; }
int fail() { throw std::runtime_error("no"); }
int& same(int* x) { return *x; }

detached compute(executor_ref where, runtime* rt, int* out, countdown* done) {
    const bool here_before = rt->get_executor().is_here();
    int value = co_await blocking(twice, 21);
    *out = value;
    EXPECT_TRUE(rt->get_executor().is_here());
    EXPECT_FALSE(here_before);
    try {
        value = co_await blocking(fail);
    } catch (const std::runtime_error& e) {
        *out += e.what() == std::string("no") ? 1 : 0;
    }
    int& reference = co_await blocking(same, out);
    EXPECT_EQ(&reference, out);
    co_await blocking([] {});
    static_cast<void>(where);
    done->down();
}

TEST(blocking, RUN_40_runs_on_the_lane_and_resumes_on_the_executor) {
    runtime rt(runtime_options().workers(2));
    int out = 0;
    countdown done(1);
    compute(rt, &rt, &out, &done);
    done.wait();
    EXPECT_EQ(out, 43);
}

detached wait_for(executor_ref, blocking_service* lane, atomic<std::uint32_t>* gate, countdown* done) {
    co_await blocking_on(*lane, [](atomic<std::uint32_t>* g) { wait_on(*g, 0); }, gate);
    done->down();
}

TEST(blocking, RUN_41_other_coroutine_types_name_the_lane) {
    blocking_lane lane(2);
    atomic<std::uint32_t> gate{1};
    countdown done(1);
    wait_for(executor_ref(), &lane, &gate, &done);
    done.wait();
}

detached try_closed(executor_ref, bool* out, countdown* over) {
    try {
        co_await blocking(twice, 1);
    } catch (const std::system_error& e) {
        *out = e.code() == errc::closed;
    }
    over->down();
}

TEST(blocking, RUN_42_a_closed_lane_refuses_with_an_error) {
    runtime rt(runtime_options().workers(1));
    rt.blocking().close();
    countdown done(1);
    bool refused = false;
    try_closed(rt, &refused, &done);
    done.wait();
    EXPECT_TRUE(refused);
}

// An awaiter driven by hand, to cancel it at a chosen moment.
struct by_hand {
    struct promise_type : detached::promise_type {
        by_hand get_return_object() noexcept { return by_hand{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
    };
    std::coroutine_handle<promise_type> handle;
};
by_hand nothing() { co_return; }

TEST(blocking, RUN_43_queued_work_is_withdrawn_running_work_is_interrupted) {
    blocking_lane lane(1);
    atomic<std::uint32_t> gate{0};
    atomic<std::uint32_t> began{0};
    const auto wait_at = [](atomic<std::uint32_t>* g, atomic<std::uint32_t>* b) {
        b->store(1, mo::release);
        wake_on(b, 1);
        while (g->load(mo::acquire) == 0) {
            wait_on(*g, 0);
        }
        return 7;
    };
    const auto open = [&gate]() noexcept {
        gate.fetch_add(1, mo::release);
        wake_on(&gate, 1);
    };
    by_hand first = nothing();
    by_hand second = nothing();
    using interrupter = interrupted_by<decltype(open)>;
    detail::blocking_await<interrupter, decltype(+wait_at), atomic<std::uint32_t>*, atomic<std::uint32_t>*> running(
        &lane, interrupter(open), +wait_at, &gate, &began);
    detail::blocking_await<detail::no_interrupter, int (*)(int), int> queued(&lane, detail::no_interrupter(), twice, 1);
    EXPECT_TRUE(running.await_suspend(first.handle));
    while (began.load(mo::acquire) == 0) {
        wait_on(began, 0);
    }
    EXPECT_TRUE(queued.await_suspend(second.handle));
    EXPECT_EQ(lane.queued(), 1U);
    EXPECT_TRUE(queued.try_cancel()) << "it had not started";
    EXPECT_EQ(lane.queued(), 0U);
    EXPECT_FALSE(running.try_cancel()) << "it runs, and completes";
    EXPECT_FALSE(running.try_cancel());
    lane.close();
    EXPECT_EQ(gate.load(mo::relaxed), 1U) << "interrupted once";
    EXPECT_EQ(running.await_resume(), 7);
    EXPECT_TRUE(first.handle.done()) << "resumed inline by the lane: this coroutine type has no executor";
    EXPECT_FALSE(second.handle.done());
    first.handle.destroy();
    second.handle.destroy();
}

TEST(blocking_death, RUN_44_misuse_is_named) {
    EXPECT_DEATH(detail::require_lane(nullptr, executor_ref()), "has no threads for blocking work");
    EXPECT_DEATH(
        {
            detail::blocking_phase call;
            call.begin();
            call.require_over();
        },
        "its coroutine was destroyed while it runs");
}

}  // namespace
