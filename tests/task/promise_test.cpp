#include <roost/base/error.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

using namespace roost;

namespace {

task<int> wait_for_answer(scope& s, std::optional<promise<int>>& out, external_cancel how) {
    auto [d, p] = make_promise<int>(s, "answer", how);
    out.emplace(std::move(p));
    const int got = co_await std::move(d);
    co_return got;
}
task<> ask(std::optional<promise<int>>& out, external_cancel how, std::string& log) {
    auto got = co_await as_outcome(with_scope(wait_for_answer, std::ref(out), how));
    if (got.has_value()) {
        log = "value " + std::to_string(got.value());
    } else {
        log = got.has_error() ? describe(got.error()) : "cancelled";
    }
}

TEST(promise, JOB_25_setting_the_promise_completes_the_child) {
    rig::stage s;
    std::optional<promise<int>> p;
    std::string log;
    s.play(ask(p, external_cancel::abandon, log));
    ASSERT_TRUE(p);
    std::thread([&] { EXPECT_TRUE(p->set_value(42)); }).join();
    EXPECT_EQ(log, "") << "nothing is resumed inside set_value";
    s.run();
    EXPECT_EQ(log, "value 42");
}

TEST(promise, JOB_25_an_error_fails_it_and_so_does_dropping_the_promise) {
    rig::stage s;
    std::optional<promise<int>> p;
    std::string log;
    s.play(ask(p, external_cancel::abandon, log));
    p->set_error(std::make_exception_ptr(std::runtime_error("remote")));
    s.run();
    EXPECT_EQ(log, "std::runtime_error: remote");
    s.play(ask(p, external_cancel::abandon, log));
    p.reset();
    s.run();
    EXPECT_NE(log.find("the promise of 'answer' was dropped unset"), std::string::npos) << log;
}

TEST(promise, JOB_25_set_cancelled_ends_it_cancelled) {
    rig::stage s;
    std::optional<promise<int>> p;
    std::string log;
    s.play(ask(p, external_cancel::uninterruptible, log));
    p->set_cancelled();
    s.run();
    EXPECT_EQ(log, "cancelled");
}

TEST(promise, JOB_25_a_cancel_abandons_it_and_a_late_value_is_thrown_away) {
    rig::stage s;
    std::optional<promise<int>> p;
    std::string log;
    const job j = s.play(ask(p, external_cancel::abandon, log));
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_FALSE(p->set_value(1));
}

TEST(promise, JOB_25_uninterruptible_is_waited_for) {
    rig::stage s;
    std::optional<promise<int>> p;
    std::string log;
    const job j = s.play(ask(p, external_cancel::uninterruptible, log));
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelling);
    EXPECT_TRUE(p->cancel_requested());
    EXPECT_TRUE(p->set_value(1));
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<int> with_hook(scope& s, std::optional<promise<int>>& out, int& hooked) {
    auto hook = [&hooked] { ++hooked; };
    auto made = make_promise<int>(s, "hooked", hook);
    out.emplace(std::move(made.second));
    const int got = co_await std::move(made.first);
    co_return got;
}
task<> ask_hook(std::optional<promise<int>>& out, int& hooked) {
    static_cast<void>(co_await with_scope(with_hook, std::ref(out), std::ref(hooked)));
}

TEST(promise, JOB_25_a_hook_is_run_once_on_the_executor) {
    rig::stage s;
    std::optional<promise<int>> p;
    int hooked = 0;
    const job j = s.play(ask_hook(p, hooked));
    j.cancel();
    EXPECT_EQ(hooked, 0) << "user code never runs inside cancel()";
    s.run();
    EXPECT_EQ(hooked, 1);
    EXPECT_FALSE(j.is_finished());
    p.reset();
    s.run();
    EXPECT_TRUE(j.is_finished());
}

TEST(external_death, JOB_25_setting_it_twice_is_a_named_bug) {
    EXPECT_DEATH(
        {
            rig::stage s;
            std::optional<promise<int>> p;
            std::string log;
            s.play(ask(p, external_cancel::abandon, log));
            p->set_value(1);
            p->set_value(2);
        },
        "'answer'.*set once");
}

struct mix {
    external_cancel how = external_cancel::abandon;
    bool cancel_parent = false;
    bool cancel_child = false;
    int end = 0;  // value, error, dropped
    int yields_before = 0;
    int yields_after = 0;
    int repeat = 0;  // so many steps of the executor before the parent is cancelled and the promise ends
};

task<> detach_external(scope& s, const mix& m, std::optional<promise<int>>& out, job& child, bool& returned) {
    for (int i = 0; i < m.yields_before; ++i) {
        co_await yield();
    }
    auto made = make_promise<int>(s, "external", m.how);
    child = made.first.as_job();
    out.emplace(std::move(made.second));
    if (m.cancel_child) {
        made.first.cancel();
    }
    made.first.keep();  // detached: only the scope waits for it
    for (int i = 0; i < m.yields_after; ++i) {
        co_await yield();
    }
    returned = true;
}
task<> run_mix(const mix& m, std::optional<promise<int>>& out, job& child, bool& returned, bool& finished) {
    co_await with_scope(detach_external, std::ref(m), std::ref(out), std::ref(child), std::ref(returned));
    finished = true;
}

void end_promise(std::optional<promise<int>>& p, int end) {
    if (end == 0) {
        p->set_value(1);
    } else if (end == 1) {
        p->set_error(std::make_exception_ptr(std::runtime_error("x")));
    } else {
        p.reset();
    }
}

void play_mix(const mix& m) {
    rig::stage s;
    std::optional<promise<int>> p;
    job child;
    bool returned = false;
    bool finished = false;
    const job parent = s.start(run_mix(m, p, child, returned, finished));
    for (int step = 0; step < m.repeat; ++step) {
        s.executor.run_one();
    }
    const bool cancelled = m.cancel_parent && !parent.is_finished();
    const bool was_over = returned && child.is_finished();
    const bool had_returned = returned;
    if (m.cancel_parent) {
        parent.cancel();
    }
    const bool waits_for_promise = p && !child.is_finished();
    if (waits_for_promise) {
        EXPECT_FALSE(parent.is_finished()) << "the parent waits for the external child";
    }
    if (!p) {
        s.run();  // not made yet, or never, because the parent was cancelled
    }
    if (p) {
        end_promise(p, m.end);
    }
    s.run();
    ASSERT_TRUE(parent.is_finished());
    const bool failed = child && child.state() == job_state::failed;
    // The body of the scope had returned before the cancel, and its child was over or brought a value all the same: kept.
    const bool kept = was_over || (had_returned && child.state() == job_state::completed);
    const bool ends_cancelled = cancelled && !kept;
    EXPECT_EQ(parent.state(), failed ? job_state::failed : ends_cancelled ? job_state::cancelled : job_state::completed);
    EXPECT_EQ(finished, parent.state() == job_state::completed);
    if (child && !m.cancel_child && !m.cancel_parent) {
        EXPECT_EQ(child.state(), m.end == 0 ? job_state::completed : job_state::failed) << "what the promise said";
    }
}

// 2 x 2 x 3 x 3 x 3 ways to mix a cancel of the parent, one of the child before it is detached, the end of the promise
// and yields before and after, times 16 moments, for both things that a cancel can do.
TEST(promise, JOB_25_no_mix_of_cancel_set_drop_and_yield_stalls_the_parent) {
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    int played = 0;
    for (int i = 0; i < 108 * 16; ++i) {
        int digits = i;
        const auto next = [&digits](int base) { return std::exchange(digits, digits / base) % base; };
        mix m;
        m.cancel_parent = next(2) == 1;
        m.cancel_child = next(2) == 1;
        m.end = next(3);
        m.yields_before = next(3);
        m.yields_after = next(3);
        m.repeat = next(16);
        for (const external_cancel how : {external_cancel::abandon, external_cancel::uninterruptible}) {
            m.how = how;
            SCOPED_TRACE(::testing::Message()
                         << "how " << int(how) << " parent " << m.cancel_parent << " child " << m.cancel_child << " end "
                         << m.end << " yields " << m.yields_before << " " << m.yields_after << " repeat " << m.repeat);
            play_mix(m);
            ++played;
        }
    }
    set_failure_sink(before);
    EXPECT_EQ(played, 2 * 1728);
}

}  // namespace
