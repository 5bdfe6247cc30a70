// The wait slot where its ways can be told apart without a model: a canceller that stays inside, and an abort after a cancel.
#include <roost/sync/event.hpp>
#include <roost/task/detail/frame/await.hpp>
#include <roost/task/detail/job/region.hpp>
#include <roost/task/scope.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <functional>
#include <thread>

using namespace roost;

namespace {

// How much of a processor the thread that made it has used.
class processor_time {
public:
    processor_time() { EXPECT_EQ(pthread_getcpuclockid(pthread_self(), &clock_), 0); }
    [[nodiscard]] std::chrono::nanoseconds now() const {
        timespec used{};
        EXPECT_EQ(clock_gettime(clock_, &used), 0);
        return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
    }

private:
    clockid_t clock_{};
};

// Where a canceller stands inside try_cancel() until it is let go.
class gate {
public:
    void hold() noexcept {
        inside = true;
        while (!open) {
            std::this_thread::yield();
        }
        then();
    }
    void wait_until_inside() const {
        while (!inside) {
            std::this_thread::yield();
        }
    }
    std::atomic<bool> inside{false};
    std::atomic<bool> open{false};
    std::function<void()> then = [] {};
};

// The wait for an event, behind that gate.
class held_wait {
public:
    held_wait(event& e, gate& g) : inner_(e.wait()), gate_(&g) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return inner_.await_suspend(h);
    }
    void await_resume() { inner_.await_resume(); }
    bool try_cancel() noexcept {
        gate_->hold();
        return inner_.try_cancel();
    }

private:
    decltype(std::declval<event&>().wait()) inner_;
    gate* gate_;
};

task<> wait_behind(event& e, gate& g, std::atomic<bool>& went_on) {
    co_await held_wait(e, g);
    went_on = true;
}

TEST(region, TASK_11_a_body_that_was_woken_first_goes_on_when_the_canceller_has_left_however_long_that_takes) {
    rig::stage s;
    event e;
    gate g;
    std::atomic<bool> went_on{false};
    bool too_early = false;
    const processor_time mine;
    g.then = [&] {  // the woken body is on its way by now: it spins, and then gives its processor to others
        const auto until = mine.now() + std::chrono::milliseconds(5);
        while (mine.now() < until) {
            std::this_thread::yield();
        }
        too_early = went_on;
    };
    const job j = s.play(wait_behind(e, g, went_on));
    std::thread canceller([&] { j.cancel(); });
    g.wait_until_inside();
    e.set();
    g.open = true;
    s.run();
    EXPECT_TRUE(went_on) << "what was delivered before the cancel claimed the wait is delivered";
    canceller.join();
    EXPECT_FALSE(too_early) << "the frame is left alone while the canceller looks at it";
    EXPECT_EQ(j.state(), job_state::completed);
}

TEST(region, TASK_30_an_abort_leaves_the_wait_to_the_cancel_that_is_at_it) {
    rig::stage s;
    event e;
    gate g;
    std::atomic<bool> went_on{false};
    const job j = s.play(wait_behind(e, g, went_on));
    std::thread canceller([&] { j.cancel(reason(reason_kind::requested, "first")); });
    g.wait_until_inside();
    j.tree_node().abort(reason(reason_kind::requested, "second"));
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelling) << "one of them takes the body out, once";
    g.open = true;
    canceller.join();
    s.run();
    EXPECT_FALSE(went_on);
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().text(), "first");
}

TEST(region, TASK_30_an_abort_before_a_cancelled_job_has_run_is_no_second_cancel) {
    rig::stage s;
    event e;
    gate g;
    std::atomic<bool> went_on{false};
    const job j = s.start(wait_behind(e, g, went_on));
    EXPECT_TRUE(j.cancel(reason(reason_kind::requested, "first")));
    j.tree_node().abort(reason(reason_kind::requested, "second"));
    s.run();
    EXPECT_FALSE(went_on);
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().text(), "first");
}

task<> wait_in(scope&, event& e, bool& went_on) {
    co_await e.wait();
    went_on = true;
}
task<> wait_in_scope(event& e, bool& went_on) { co_await with_scope(wait_in, std::ref(e), std::ref(went_on)); }

TEST(region, TASK_9_a_stop_ends_no_wait_in_a_scope) {
    rig::stage s;
    event e;
    bool went_on = false;
    const job j = s.play(wait_in_scope(e, went_on));
    s.root.tree_node().stop();
    s.run();
    EXPECT_EQ(j.state(), job_state::active);
    e.set();
    s.run();
    EXPECT_TRUE(went_on);
    EXPECT_EQ(j.state(), job_state::completed);
}

}  // namespace
