// Stack use: constant, however deep the chain of frames and however many awaits complete at once.
#include <roost/sync/event.hpp>
#include <roost/task/checkpoint.hpp>
#include <roost/task/detail/transfer.hpp>
#include <roost/task/scope.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

using namespace roost;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || ROOST_ASAN
constexpr int depth = 20'000;  // sanitizers keep freed frames; the stack would still overflow by far if it grew
constexpr int rounds = 100'000;
#else
constexpr int depth = 100'000;
constexpr int rounds = 1'000'000;
#endif
constexpr std::size_t limit = 64 * 1024;

class meter {
public:
    [[gnu::noinline]] static std::uintptr_t here() {
        auto address = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        asm volatile("" : "+r"(address));
        return address;
    }
    meter() : top_(here()) {}
    void sample() {
        const std::uintptr_t now = here();
        const std::size_t used = now < top_ ? top_ - now : 0;
        deepest_ = used > deepest_ ? used : deepest_;
    }
    [[nodiscard]] std::size_t deepest() const { return deepest_; }

private:
    std::uintptr_t top_;
    std::size_t deepest_ = 0;
};

class sampled {
public:
    explicit sampled(meter& m) : meter_(&m) {}
    ~sampled() { meter_->sample(); }

private:
    meter* meter_;
};

enum class end { value, error, wait };

task<int> deeper(int left, end how, event& e, meter& m) {
    const sampled local(m);
    m.sample();
    if (left > 0) {
        const int below = co_await deeper(left - 1, how, e, m);
        m.sample();
        co_return below + 1;
    }
    if (how == end::error) {
        throw std::runtime_error("at the bottom");
    }
    if (how == end::wait) {
        co_await e.wait();
    }
    co_return 0;
}
task<> dive(end how, event& e, meter& m, int& got) {
    try {
        got = co_await deeper(depth, how, e, m);
    } catch (const std::runtime_error&) {
        got = -1;
    }
}

TEST(transfer, TASK_8_a_deep_chain_completes_in_constant_stack) {
    rig::stage s;
    event e;
    meter m;
    int got = 0;
    s.play(dive(end::value, e, m, got));
    EXPECT_EQ(got, depth);
    EXPECT_LT(m.deepest(), limit);
}

TEST(transfer, TASK_8_a_deep_chain_throws_in_constant_stack) {
    rig::stage s;
    event e;
    meter m;
    int got = 0;
    s.play(dive(end::error, e, m, got));
    EXPECT_EQ(got, -1);
    EXPECT_LT(m.deepest(), limit);
}

TEST(transfer, TASK_8_a_deep_chain_is_woken_and_is_cancelled_in_constant_stack) {
    for (const bool cancel : {false, true}) {
        rig::stage s;
        event e;
        meter m;
        int got = 0;
        const job j = s.play(dive(end::wait, e, m, got));
        EXPECT_EQ(j.state(), job_state::active);
        if (cancel) {
            j.cancel();
        } else {
            e.set();
        }
        s.run();
        EXPECT_EQ(got, cancel ? 0 : depth);
        EXPECT_EQ(j.state(), cancel ? job_state::cancelled : job_state::completed);
        EXPECT_LT(m.deepest(), limit);
    }
}

task<int> at_once(int v) { co_return v; }
task<> many(meter& m, long& sum) {
    for (int i = 0; i < rounds; ++i) {
        sum += co_await at_once(1);
    }
    m.sample();
}

TEST(transfer, TASK_8_a_million_awaits_that_complete_at_once_use_constant_stack) {
    rig::stage s;
    meter m;
    long sum = 0;
    s.play(many(m, sum));
    EXPECT_EQ(sum, rounds);
    EXPECT_LT(m.deepest(), limit);
}

task<> ready_events(event& e, meter& m) {
    for (int i = 0; i < rounds; ++i) {
        co_await e.wait();
    }
    m.sample();
}

TEST(transfer, TASK_8_a_million_ready_waits_use_constant_stack) {
    rig::stage s;
    event e("set", true);
    meter m;
    s.play(ready_events(e, m));
    EXPECT_LT(m.deepest(), limit);
}

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
    const job j = s.play(open_scope(depth / 4, e));
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
        const job j = s.play(open_chain(depth / 4, e));
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
