#include <roost/runtime/run_until_signal.hpp>

#include <roost/base/error.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace roost {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

struct sigaction action_of(int number) {
    struct sigaction now{};
    ::sigaction(number, nullptr, &now);
    return now;
}

class at_end {
public:
    explicit at_end(bool& flag) : flag_(&flag) {}
    at_end(const at_end&) = delete;
    at_end& operator=(const at_end&) = delete;
    ~at_end() { *flag_ = true; }

private:
    bool* flag_;
};

task<> waits(bool& ended) {
    const at_end mark(ended);
    ::kill(::getpid(), SIGINT);
    co_await sleep_for(hours(1));
}
task<> waits_in_scope(bool& ended, bool& child_ended) {
    co_await with_scope([&](scope& s) -> task<> {
        const at_end mark(ended);
        s.launch("child", waits(child_ended));  // which sends the signal, so that both have begun
        co_await sleep_for(hours(1));
    });
}

TEST(run_until_signal, RUN_184_its_number_or_its_error) {
    EXPECT_EQ(run_until_signal([]() -> task<> { co_return; }()), 0);
    EXPECT_EQ(run_until_signal([]() -> task<int> { co_return 7; }()), 7);
    const auto failing = []() -> task<> {
        throw std::runtime_error("no database");
        co_return;
    };
    EXPECT_THROW(run_until_signal(failing()), std::runtime_error);
}

TEST(run_until_signal, RUN_184_a_signal_cancels_everything_and_the_number_is_returned) {
    bool ended = false;
    bool child_ended = false;
    EXPECT_EQ(run_until_signal(waits_in_scope(ended, child_ended)), 128 + SIGINT);
    EXPECT_TRUE(ended);
    EXPECT_TRUE(child_ended);
}

task<int> ends_all_the_same() {
    const job me = co_await this_job();
    const ignore_guard deaf = co_await ignore_cancellation();
    ::kill(::getpid(), SIGTERM);
    while (!me.cancel_requested()) {
        co_await sleep_for(milliseconds(1));
    }
    co_return 5;
}

TEST(run_until_signal, RUN_184_a_task_that_gives_a_value_all_the_same_wins) {
    EXPECT_EQ(run_until_signal(ends_all_the_same()), 5);
}

TEST(run_until_signal, RUN_186_handlers_are_back_and_it_may_be_called_again) {
    for (int i = 0; i < 3; ++i) {
        bool ended = false;
        EXPECT_EQ(run_until_signal(waits(ended), runtime_options().workers(i == 0 ? 1 : 2)), 128 + SIGINT);
        EXPECT_TRUE(ended);
        EXPECT_EQ(action_of(SIGINT).sa_handler, SIG_DFL);
        EXPECT_EQ(action_of(SIGTERM).sa_handler, SIG_DFL);
    }
}

TEST(run_until_signal, RUN_186_what_is_ignored_stays_ignored) {
    struct sigaction before{};
    struct sigaction ignored{};
    ignored.sa_handler = SIG_IGN;
    ASSERT_EQ(::sigaction(SIGINT, &ignored, &before), 0);
    const auto body = []() -> task<int> {
        ::raise(SIGINT);
        co_await sleep_for(milliseconds(5));
        co_return 3;
    };
    EXPECT_EQ(run_until_signal(body()), 3);
    EXPECT_EQ(action_of(SIGINT).sa_handler, SIG_IGN);
    ::sigaction(SIGINT, &before, nullptr);
}

task<> deaf_to_the_first(event& never) {
    const ignore_guard deaf = co_await ignore_cancellation();
    ::raise(SIGINT);
    while (action_of(SIGINT).sa_handler != SIG_DFL) {
        co_await sleep_for(milliseconds(1));
    }
    ::raise(SIGINT);
    co_await never.wait();
}

TEST(run_until_signal, RUN_185_the_second_signal_has_its_former_effect) {
    event never;
    EXPECT_EXIT(run_until_signal(deaf_to_the_first(never)), ::testing::KilledBySignal(SIGINT), "");
}

TEST(run_until_signal, RUN_185_a_signal_before_the_task_begins_keeps_it_from_running) {
    detail::signal_canceller signals;
    ::raise(SIGTERM);
    while (signals.number() == 0) {
        ::usleep(1000);
    }
    EXPECT_EQ(signals.number(), SIGTERM);
    bool ran = false;
    runtime rt(runtime_options().workers(1));
    const auto block = detail::run_to_end<void>(
        rt,
        [](bool& flag) -> task<> {
            flag = true;
            co_return;
        }(ran),
        "main", site::here(),
        [&signals](detail::root_block& root) noexcept { signals.cancels(detail::node_ref<>::share(root)); });
    EXPECT_FALSE(ran);
    EXPECT_EQ(block->outcome_link().state(), detail::ending::cancelled);
    EXPECT_EQ(block->outcome_link().why().text(), "SIGTERM");
}

}  // namespace
}  // namespace roost
