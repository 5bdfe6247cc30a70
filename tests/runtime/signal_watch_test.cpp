#include <roost/runtime/signal_watch.hpp>

#include <roost/base/error.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/select.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

namespace roost {
namespace {

TEST(signal_watch, RUN_180_every_watch_is_told_of_every_signal_since_it_was_made) {
    signal_watch one(SIGUSR2, SIGHUP);
    signal_watch two(SIGHUP);
    for (const int n : {SIGUSR2, SIGHUP}) {
        ::kill(::getpid(), n);
        EXPECT_EQ(*one.receive_blocking(), n);
    }
    EXPECT_EQ(*two.receive_blocking(), SIGHUP);
    EXPECT_FALSE(two.try_receive());
    EXPECT_FALSE(one.try_receive());
}

TEST(signal_watch, RUN_180_up_to_64_are_kept) {
    signal_watch signals(SIGUSR2);
    for (int i = 0; i < 64; ++i) {
        ::raise(SIGUSR2);  // handled before it returns, so that the kernel folds nothing
    }
    for (int i = 0; i < 64; ++i) {
        EXPECT_EQ(*signals.receive_blocking(), SIGUSR2);
    }
}

TEST(signal_watch, RUN_180_those_beyond_64_are_dropped_without_a_word) {
    ::testing::internal::CaptureStderr();
    {
        signal_watch signals(SIGUSR2);
        signal_watch other(SIGUSR2);
        for (int i = 0; i < 70; ++i) {
            ::raise(SIGUSR2);
            EXPECT_EQ(*other.receive_blocking(), SIGUSR2);
        }
        signal_watch last(SIGHUP);  // told after `signals` of all 70
        ::raise(SIGHUP);
        EXPECT_EQ(*last.receive_blocking(), SIGHUP);
    }
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(signal_watch, RUN_181_a_clause_of_a_select) {
    const auto body = []() -> task<int> {
        signal_watch signals(SIGUSR2);
        channel<int> orders(1);
        auto quiet = co_await select(orders.receive(), signals.receive(), sleep_for(std::chrono::milliseconds(1)));
        EXPECT_EQ(quiet.index(), 2U);
        ::kill(::getpid(), SIGUSR2);
        auto got = co_await select(orders.receive(), signals.receive());
        EXPECT_EQ(got.index(), 1U);
        auto number = std::move(got).get<1>();
        co_return *number;
    };
    EXPECT_EQ(run(body()), SIGUSR2);
}

task<int> for_ever() {
    co_await sleep_for(std::chrono::hours(1));
    co_return 0;
}

TEST(signal_watch, RUN_181_a_task_for_a_race) {
    const auto body = []() -> task<int> {
        task<int> signal = signal_received(SIGUSR2, SIGHUP);
        ::raise(SIGHUP);  // before the first await
        auto first = co_await race(for_ever(), std::move(signal));
        EXPECT_EQ(first.index(), 1U);
        co_return first.value();
    };
    EXPECT_EQ(run(body()), SIGHUP);
}

TEST(signal_watch, RUN_181_a_wait_can_be_cancelled_and_given_up) {
    const auto body = []() -> task<> {
        auto none = co_await move_on_after(std::chrono::milliseconds(1), signal_received(SIGUSR2));
        EXPECT_FALSE(none.has_value());
        static_cast<void>(signal_received(SIGUSR2));  // never awaited
    };
    run(body());
    struct sigaction now{};
    ::sigaction(SIGUSR2, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST(signal_watch, RUN_183_refusals) {
    EXPECT_THROW(signal_watch(SIGKILL), error);
    EXPECT_THROW(static_cast<void>(signal_received(SIGSEGV)), error);
}

}  // namespace
}  // namespace roost
