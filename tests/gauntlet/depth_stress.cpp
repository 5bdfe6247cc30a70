// Scenarios 11 and 12: however deep the chain of frames and however many awaits complete at once, the stack stays as it is.

#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/checkpoint.hpp>
#include <roost/task/scope.hpp>

#include "../task/rig.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

namespace {

using namespace roost;
using gauntlet::load;
using gauntlet::quiet;

// Sanitizers keep freed frames; the stack would still overflow by far if it grew.
constexpr int depth = gauntlet::sanitized ? 20'000 : 100'000;
const int rounds = static_cast<int>(load(1'000'000, 100'000));
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

TEST(gauntlet_depth, GAUNTLET_11_TASK_8_a_deep_chain_completes_in_constant_stack) {
    const quiet q("scenario 11");
    rig::stage s;
    event e;
    meter m;
    int got = 0;
    s.play(dive(end::value, e, m, got));
    EXPECT_EQ(got, depth);
    EXPECT_LT(m.deepest(), limit);
    q.say("%zu bytes of stack", m.deepest());
}

TEST(gauntlet_depth, GAUNTLET_11_TASK_8_a_deep_chain_throws_in_constant_stack) {
    const quiet q("scenario 11");
    rig::stage s;
    event e;
    meter m;
    int got = 0;
    s.play(dive(end::error, e, m, got));
    EXPECT_EQ(got, -1);
    EXPECT_LT(m.deepest(), limit);
    q.say("%zu bytes of stack", m.deepest());
}

TEST(gauntlet_depth, GAUNTLET_11_TASK_8_a_deep_chain_is_woken_and_is_cancelled_in_constant_stack) {
    const quiet q("scenario 11");
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
        q.say("%d frames, %s, %zu bytes of stack", depth, cancel ? "cancelled" : "woken", m.deepest());
    }
}

task<int> at_once(int v) { co_return v; }
task<> many(meter& m, long& sum) {
    for (int i = 0; i < rounds; ++i) {
        sum += co_await at_once(1);
    }
    m.sample();
}

TEST(gauntlet_depth, GAUNTLET_12_TASK_8_a_million_awaits_that_complete_at_once_use_constant_stack) {
    const quiet q("scenario 12");
    rig::stage s;
    meter m;
    long sum = 0;
    s.play(many(m, sum));
    EXPECT_EQ(sum, rounds);
    EXPECT_LT(m.deepest(), limit);
    q.say("%zu bytes of stack", m.deepest());
}

task<> ready_events(event& e, meter& m) {
    for (int i = 0; i < rounds; ++i) {
        co_await e.wait();
    }
    m.sample();
}

TEST(gauntlet_depth, GAUNTLET_12_TASK_8_a_million_ready_waits_use_constant_stack) {
    const quiet q("scenario 12");
    rig::stage s;
    event e("set", true);
    meter m;
    s.play(ready_events(e, m));
    EXPECT_LT(m.deepest(), limit);
    q.say("%zu bytes of stack", m.deepest());
}

// Two tasks that wake each other; without an executor between them every wake would nest.
task<> ping(auto_reset_event& mine, auto_reset_event& theirs, int times, meter& m) {
    for (int i = 0; i < times; ++i) {
        co_await mine.wait();
        m.sample();
        theirs.set();
    }
}

TEST(gauntlet_depth, GAUNTLET_12_a_million_ping_pongs_use_constant_stack) {
    const quiet q("scenario 12");
    rig::stage s;
    auto_reset_event a("a", true);
    auto_reset_event b("b");
    meter m;
    const job one = s.start(ping(a, b, rounds, m));
    const job two = s.play(ping(b, a, rounds, m));
    EXPECT_EQ(one.state(), job_state::completed);
    EXPECT_EQ(two.state(), job_state::completed);
    EXPECT_LT(m.deepest(), limit);
    q.say("%d ping-pongs, %zu bytes of stack", rounds, m.deepest());
}

}  // namespace
