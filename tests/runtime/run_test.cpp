#include <roost/runtime/blocking.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>

#include "fixture.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using namespace runtime_tests;
using namespace std::chrono_literals;

task<int> answer() {
    co_await sleep_for(1ms);
    co_return 42;
}
task<void> fail() {
    co_await sleep_for(1ms);
    throw std::runtime_error("broken");
}
task<int> child(int n) {
    co_await sleep_for(100us);
    co_return n;
}
task<int> sum_of_children(scope& s) {
    int sum = 0;
    std::vector<deferred<int>> all;
    for (int i = 0; i < 100; ++i) {
        all.push_back(s.async("child", child(i)));
    }
    for (auto& d : all) {
        sum += co_await std::move(d);
    }
    co_return sum;
}
task<int> parent() { co_return co_await with_scope(sum_of_children); }

TEST(run, RUN_110_returns_the_value_or_throws_the_error) {
    EXPECT_EQ(run(answer()), 42);
    EXPECT_EQ(run(answer(), runtime_options().workers(1)), 42);
    EXPECT_THROW(run(fail()), std::runtime_error);
    EXPECT_EQ(run(parent()), 4950);
    runtime rt(runtime_options().workers(2));
    EXPECT_EQ(run(rt, answer()), 42);
    EXPECT_EQ(run(rt, parent()), 4950);
}

struct shared {
    atomic<std::uint32_t> gate{0};
    atomic<std::uint32_t> began{0};
    atomic<std::uint32_t> ran{0};
};

void wait_at_gate(shared* s) {
    s->ran.fetch_add(1, mo::relaxed);
    s->began.store(1, mo::release);
    wake_on(&s->began, 1);
    while (s->gate.load(mo::acquire) == 0) {
        wait_on(s->gate, 0);
    }
}
task<void> block(shared* s) { co_await blocking(wait_at_gate, s); }
task<void> block_interruptibly(shared* s) {
    auto open = [s]() noexcept {
        s->gate.store(1, mo::release);
        wake_on(&s->gate, 1);
    };
    co_await blocking(interrupted_by(open), wait_at_gate, s);
    co_await checkpoint();
    ADD_FAILURE() << "cancelled at the checkpoint";
}
task<void> cancel_both(scope& s, shared* state) {
    job running = s.launch("running", block_interruptibly(state));
    while (state->began.load(mo::acquire) == 0) {
        co_await sleep_for(100us);
    }
    job queued = s.launch("queued", block(state));
    co_await sleep_for(2ms);
    queued.cancel();
    running.cancel();
}
task<void> cancel_blocking(shared* state) { co_await with_scope(cancel_both, state); }

TEST(run, RUN_111_cancelling_blocking_work) {
    shared state;
    run(cancel_blocking(&state), runtime_options().workers(2).blocking_threads(1));
    EXPECT_EQ(state.ran.load(mo::relaxed), 1U) << "the queued one never ran";
    EXPECT_EQ(state.gate.load(mo::relaxed), 1U) << "the running one was interrupted";
}

}  // namespace
