#include <roost/base/error.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/checkpoint.hpp>
#include <roost/task/external.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

using namespace roost;

namespace {

task<int> wait_for_answer(scope& s, std::optional<promise<int>>& out, external_cancel how) {
    auto [d, p] = bridge<int>(s, "answer", how);
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

TEST(external, JOB_25_setting_the_promise_completes_the_child) {
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

TEST(external, JOB_25_an_error_fails_it_and_so_does_dropping_the_promise) {
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

TEST(external, JOB_25_set_cancelled_ends_it_cancelled) {
    rig::stage s;
    std::optional<promise<int>> p;
    std::string log;
    s.play(ask(p, external_cancel::uninterruptible, log));
    p->set_cancelled();
    s.run();
    EXPECT_EQ(log, "cancelled");
}

TEST(external, JOB_25_a_cancel_abandons_it_and_a_late_value_is_thrown_away) {
    rig::stage s;
    std::optional<promise<int>> p;
    std::string log;
    const job j = s.play(ask(p, external_cancel::abandon, log));
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_FALSE(p->set_value(1));
}

TEST(external, JOB_25_uninterruptible_is_waited_for) {
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
    auto made = bridge<int>(s, "hooked", hook);
    out.emplace(std::move(made.second));
    const int got = co_await std::move(made.first);
    co_return got;
}
task<> ask_hook(std::optional<promise<int>>& out, int& hooked) {
    static_cast<void>(co_await with_scope(with_hook, std::ref(out), std::ref(hooked)));
}

TEST(external, JOB_25_a_hook_is_run_once_on_the_executor) {
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

// 2 x 3 x 3 x 3 x 2 ways in which a cancel of the parent, the end of the promise and yields can mix.
task<> mixed(std::optional<promise<int>>& out, external_cancel how, int yields_before, int yields_after, bool& finished) {
    for (int i = 0; i < yields_before; ++i) {
        co_await yield();
    }
    std::string log;
    co_await ask(out, how, log);
    for (int i = 0; i < yields_after; ++i) {
        co_await yield();
    }
    finished = true;
}

TEST(external, JOB_25_no_mix_of_cancel_set_drop_and_yield_stalls_the_parent) {
    int combinations = 0;
    for (const external_cancel how : {external_cancel::abandon, external_cancel::uninterruptible}) {
        for (int end = 0; end < 3; ++end) {
            for (int before = 0; before < 3; ++before) {
                for (int after = 0; after < 3; ++after) {
                    for (int cancel_at = 0; cancel_at < 4; ++cancel_at) {
                        rig::stage s;
                        std::optional<promise<int>> p;
                        bool finished = false;
                        const job j = s.start(mixed(p, how, before, after, finished));
                        for (int step = 0; step < 6; ++step) {
                            if (step == cancel_at) {
                                j.cancel();
                            }
                            s.executor.run_one();
                        }
                        if (p) {
                            if (end == 0) {
                                p->set_value(1);
                            } else if (end == 1) {
                                p->set_error(std::make_exception_ptr(std::runtime_error("x")));
                            } else {
                                p.reset();
                            }
                        }
                        s.run();
                        EXPECT_TRUE(j.is_finished()) << int(how) << end << before << after << cancel_at;
                        ++combinations;
                    }
                }
            }
        }
    }
    EXPECT_EQ(combinations, 216);
}

}  // namespace
