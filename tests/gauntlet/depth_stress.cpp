// Scenarios 11 and 12: however deep the chain of frames and however many awaits complete at once, the stack stays as it is.

#include <roost/flow/closing_executor.hpp>
#include <roost/flow/race.hpp>
#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/on.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/until_stop.hpp>

#include "../task/rig.hpp"
#include "../tree/tree_support.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>

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

// The chain is torn down while it is suspended, innermost frame first, and whoever stands above it goes on.
class torn {
public:
    explicit torn(meter& m) : meter_(&m) {}
    [[nodiscard]] long frames() const { return frames_; }
    [[nodiscard]] bool in_order() const { return in_order_; }
    // A frame, so many above the innermost.
    class frame {
    public:
        frame(torn& by, int above) : by_(&by), above_(above) { ++by.frames_; }
        frame(const frame&) = delete;
        frame& operator=(const frame&) = delete;
        ~frame() {
            by_->meter_->sample();
            by_->in_order_ = by_->in_order_ && above_ == by_->next_++;
            --by_->frames_;
        }

    private:
        torn* by_;
        int above_;
    };

private:
    meter* meter_;
    long frames_ = 0;
    int next_ = 0;
    bool in_order_ = true;
};
task<int> hanging(int left, event& e, torn& t) {
    const torn::frame local(t, left);
    if (left > 0) {
        const int below = co_await hanging(left - 1, e, t);
        co_return below + 1;
    }
    co_await e.wait();
    co_return 0;
}
task<int> at_last(event& e) {
    co_await e.wait();
    co_return -1;
}
enum class tear { cancelled_scope, timeout, lost_race, stop, closed_executor };
const char* named(tear how) {
    constexpr const char* names[] = {"a cancelled scope", "a timeout", "a lost race", "a stop", "an executor that closes"};
    return names[static_cast<int>(how)];
}

task<> children(scope& s, event& e, torn& t) {
    s.launch("hanging", hanging(depth, e, t));
    co_await yield();
    s.cancel();
}
task<> above(tear how, event& e, event& other, token stops, closing_executor& where, torn& t, bool& went_on) {
    switch (how) {
        case tear::cancelled_scope:
            static_cast<void>(co_await as_outcome(with_scope(children, std::ref(e), std::ref(t))));
            break;
        case tear::timeout: static_cast<void>(co_await move_on_after(std::chrono::seconds(1), hanging(depth, e, t))); break;
        case tear::lost_race: static_cast<void>(co_await race(hanging(depth, e, t), at_last(other))); break;
        case tear::stop: static_cast<void>(co_await until_stop(std::move(stops), hanging(depth, e, t))); break;
        case tear::closed_executor: static_cast<void>(co_await as_outcome(on(where, hanging(depth, e, t)))); break;
    }
    went_on = true;
}

TEST(gauntlet_depth, GAUNTLET_11_TASK_8_a_deep_chain_is_torn_down_in_constant_stack) {
    const quiet q("scenario 11");
    for (const tear how : {tear::cancelled_scope, tear::timeout, tear::lost_race, tear::stop, tear::closed_executor}) {
        rig::stage s;
        event e;
        event other;
        meter m;
        torn t(m);
        bool went_on = false;
        const auto stops = tree_support::make_root();
        closing_executor where(s.executor, "own");
        const job j = s.play(above(how, e, other, token(*stops), where, t, went_on));
        if (how != tear::cancelled_scope) {
            EXPECT_EQ(t.frames(), depth + 1) << "they hang";
            EXPECT_FALSE(went_on);
        }
        other.set();
        stops->stop();
        s.advance(std::chrono::seconds(2));
        s.play(where.close());
        EXPECT_EQ(t.frames(), 0);
        EXPECT_TRUE(t.in_order()) << "innermost first";
        EXPECT_TRUE(went_on);
        EXPECT_EQ(j.state(), job_state::completed);
        EXPECT_LT(m.deepest(), limit);
        EXPECT_EQ(e.waiters_now(), 0U);
        q.say("%d frames torn down by %s, %zu bytes of stack", depth + 1, named(how), m.deepest());
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
