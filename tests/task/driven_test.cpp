#include <roost/base/error.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/driven.hpp>
#include <roost/task/this_task.hpp>

#include "../sync/coroutines.hpp"
#include "further.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

namespace {

using namespace roost;

static_assert(!std::is_move_constructible_v<detail::driven_task<int>>);

task<std::unique_ptr<int>> make(int value, bool fails) {
    co_await yield();
    if (fails) {
        throw std::runtime_error("no");
    }
    co_return std::make_unique<int>(value);
}
task<void> cancel_itself() {
    job me = co_await this_job();
    me.cancel();
    co_await checkpoint();
}

sync_testing::fire await_from_outside(executor_ref where, int* out, event* done) {
    auto first = awaitable_on(make(41, false), where);
    std::unique_ptr<int> value = co_await first;
    *out = *value;
    auto second = awaitable_on(make(0, true), where);
    try {
        value = co_await second;
    } catch (const std::runtime_error&) {
        ++*out;
    }
    auto third = awaitable_on(cancel_itself(), where);
    try {
        co_await third;
    } catch (const std::system_error& e) {
        *out += e.code() == errc::cancelled ? 100 : 0;
    }
    done->set();
}

TEST(driven, TASK_90_any_coroutine_can_run_a_task_to_its_end) {
    runtime rt(runtime_options().workers(2));
    int out = 0;
    event done;
    await_from_outside(rt, &out, &done);
    done.wait_blocking();
    EXPECT_EQ(out, 142);
    rt.shut_down();
}

TEST(driven, TASK_90_without_an_executor_the_program_ends_with_a_sentence) {
    EXPECT_DEATH(static_cast<void>(awaitable_on(make(1, false), executor_ref())), "has nowhere to run");
}

sync_testing::fire await_with_cleanup(executor_ref where, int* out, event* done) {
    auto first = awaitable_on(further::return_with("beside a value"), where);
    co_await first;
    auto second = awaitable_on(further::fail_twice("thrown", "beside it"), where);
    try {
        co_await second;
    } catch (const std::runtime_error&) {
        ++*out;
    }
    done->set();
}

TEST(driven, JOB_85_what_failed_beside_the_outcome_reaches_the_sink) {
    runtime rt(runtime_options().workers(1));
    further::listener sink;
    int out = 0;
    event done;
    await_with_cleanup(rt, &out, &done);
    done.wait_blocking();
    EXPECT_EQ(out, 1);
    EXPECT_EQ(sink.take(), (further::texts{"beside a value", "beside it"}));
    rt.shut_down();
}

}  // namespace
