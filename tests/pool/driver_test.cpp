// The driver: any awaitable, any outcome, told once.

#include <roost/pool/detail/driver.hpp>

#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/driven.hpp>
#include <roost/task/this_task.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace {

using roost::event;
using roost::outcome;
using roost::detail::drive;

static_assert(roost::detail::can_be_driven<roost::task<int>>);
static_assert(std::is_same_v<roost::detail::driven_result<roost::task<std::unique_ptr<int>>>, std::unique_ptr<int>>);

struct told {
    int times = 0;
    int value = 0;
    bool failed = false;
};

// Ends with a value, or an error, once the event is set.
class answer {
public:
    answer(event& e, int value) noexcept : wait_(e.wait()), value_(value) {}
    bool await_ready() noexcept { return wait_.await_ready(); }
    template <class P>
    bool await_suspend(std::coroutine_handle<P> h) noexcept {
        return wait_.await_suspend(h);
    }
    int await_resume() {
        wait_.await_resume();
        if (value_ < 0) {
            throw std::runtime_error("negative");
        }
        return value_;
    }

private:
    decltype(std::declval<event&>().wait()) wait_;
    int value_;
};

auto note(told& t) {
    return [&t](const std::optional<outcome<int>>& ended) {
        const outcome<int>& result = *ended;
        ++t.times;
        t.failed = result.has_error();
        t.value = result.has_value() ? result.value() : 0;
    };
}

TEST(driver, POOL_31_a_ready_awaitable_ends_at_once) {
    event e;
    e.set();
    told t;
    drive({}, [&] { return answer(e, 5); }, note(t));
    EXPECT_EQ(t.times, 1);
    EXPECT_EQ(t.value, 5);
}

TEST(driver, POOL_31_a_pending_awaitable_ends_when_it_is_woken) {
    event e;
    told t;
    drive({}, [&] { return answer(e, 6); }, note(t));
    EXPECT_EQ(t.times, 0);
    e.set();
    EXPECT_EQ(t.times, 1);
    EXPECT_EQ(t.value, 6);
}

TEST(driver, POOL_31_errors_of_the_awaitable_and_of_making_it_are_outcomes) {
    event e;
    e.set();
    told t;
    drive({}, [&] { return answer(e, -1); }, note(t));
    EXPECT_TRUE(t.failed);
    told u;
    drive({}, [&]() -> answer { throw std::runtime_error("none"); }, note(u));
    EXPECT_TRUE(u.failed);
    EXPECT_EQ(u.times, 1);
}

TEST(driver, POOL_31_void_awaitables) {
    event e;
    int ended = 0;
    drive({}, [&] { return e.wait(); }, [&](const auto& result) { ended += result->has_value() ? 1 : 10; });
    EXPECT_EQ(ended, 0);
    e.set();
    EXPECT_EQ(ended, 1);
}

roost::task<std::unique_ptr<int>> make_boxed(int value) {
    co_await roost::yield();
    co_return std::make_unique<int>(value);
}

TEST(driver, TASK_90_a_driver_runs_tasks) {
    roost::runtime rt(roost::runtime_options().workers(1));
    event done;
    int value = 0;
    drive(
        rt, [] { return make_boxed(7); },
        [&](const auto& ended) noexcept {
            value = *ended->value();
            done.set();
        });
    done.wait_blocking();
    EXPECT_EQ(value, 7);
    rt.shut_down();
}

}  // namespace
