// A driver that calls code of the program: what that code may do to the runtime whose thread it runs on.

#include <roost/runtime/detail/driver_seat.hpp>

#include <gtest/gtest.h>

#include <roost/base/error.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/owned_scope.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace {

using namespace roost;
using namespace std::chrono_literals;

// Runs functions that other threads add, one in park(), the others in poll().
class function_driver final : public ext::driver {
public:
    void add(std::function<void()> f) {
        {
            const std::lock_guard held(mutex_);
            functions_.push_back(std::move(f));
        }
        changed_.notify_one();
    }
    bool poll() noexcept override {
        bool any = false;
        while (const auto f = next(time_point::min())) {
            f();
            any = true;
        }
        return any;
    }
    void park(time_point deadline) noexcept override {
        if (const auto f = next(deadline)) {
            f();
        }
    }
    void wake() noexcept override {
        {
            const std::lock_guard held(mutex_);
            woken_ = true;
        }
        changed_.notify_one();
    }
    ext::reactor* reactor(std::error_code& why) noexcept override {
        why = std::make_error_code(std::errc::operation_not_supported);
        return nullptr;
    }
    void close() noexcept override {}

private:
    std::function<void()> next(time_point deadline) {
        std::unique_lock held(mutex_);
        const auto is_ready = [&] { return woken_ || !functions_.empty(); };
        if (deadline == no_deadline) {
            changed_.wait(held, is_ready);
        } else {
            changed_.wait_for(held, std::max(deadline - now(), duration(0)), is_ready);
        }
        woken_ = false;
        if (functions_.empty()) {
            return nullptr;
        }
        std::function<void()> f = std::move(functions_.front());
        functions_.pop_front();
        return f;
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> functions_;
    bool woken_ = false;
};

class inside_driver : public testing::TestWithParam<unsigned> {
protected:
    function_driver driver;
    runtime rt{runtime_options().workers(GetParam()).driver(driver)};

    // Returns what f returns inside the driver.
    bool ask(const std::function<bool()>& f) {
        std::promise<bool> answer;
        driver.add([&] { answer.set_value(f()); });
        return answer.get_future().get();
    }
};

task<> set_to_here(executor_ref where, std::atomic<int>& ran, std::atomic<bool>& is_here) {
    is_here = where->is_here();
    ++ran;
    co_return;
}

TEST_P(inside_driver, IO_60_no_body_runs_there) {
    owned_scope jobs(rt, scope_options("jobs").report_failures());
    std::atomic<int> ran{0};
    std::atomic<bool> is_here{false};
    EXPECT_FALSE(ask([&] { return rt.get_executor().is_here(); }));
    for (int i = 1; i <= 100; ++i) {
        EXPECT_TRUE(ask([&] {
            const int before = ran;
            jobs.launch("body", set_to_here(rt, ran, is_here), start::immediate);
            return ran == before;
        }));
        while (ran != i) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(is_here);
    }
    jobs.close_blocking();
}

task<> nothing() { co_return; }

TEST_P(inside_driver, IO_61_the_thread_belongs_to_the_executor) {
    EXPECT_TRUE(ask([&] { return rt.get_executor().owns_this_thread(); }));
    EXPECT_FALSE(rt.get_executor().owns_this_thread());
    EXPECT_TRUE(ask([&] {
        try {
            block_on(rt, nothing());
        } catch (const error& e) {
            return e.kind() == errc::would_deadlock;
        }
        return false;
    }));
}

TEST_P(inside_driver, IO_61_it_cannot_end_the_runtime) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(ask([&] {
                     rt.shut_down();
                     return true;
                 }),
                 "a worker cannot wait for its own runtime to end");
}

class counted_work final : public ext::work {
public:
    counted_work() noexcept : work(&counted_work::count) {}
    std::atomic<int> ran{0};

private:
    static void count(work& self) noexcept { ++static_cast<counted_work&>(self).ran; }
};

TEST_P(inside_driver, IO_62_what_is_posted_there_runs_while_the_runtime_ends) {
    counted_work last;
    counted_work late;
    std::promise<void> begun;
    driver.add([&] {
        begun.set_value();
        std::this_thread::sleep_for(20ms);  // without it the test checks less
        EXPECT_TRUE(rt.get_executor().post(last));
        EXPECT_TRUE(rt.get_executor().post_last(late));
    });
    begun.get_future().wait();
    rt.shut_down();
    EXPECT_EQ(last.ran, 1);
    EXPECT_EQ(late.ran, 1);
}

// Keeps its worker until it is released.
class busy_work final : public ext::work {
public:
    busy_work() noexcept : work(&busy_work::keep) {}
    std::atomic<bool> runs{false};
    std::atomic<bool> released{false};

private:
    static void keep(work& self) noexcept {
        auto& mine = static_cast<busy_work&>(self);
        mine.runs = true;
        while (!mine.released) {
            std::this_thread::yield();
        }
    }
};

// While the function runs in park(), the other worker finds nothing left and ends the runtime.
TEST(inside_driver_of_two, IO_62_what_is_posted_there_runs_although_the_other_worker_has_ended_the_runtime) {
    function_driver driver;
    runtime rt(runtime_options().workers(2).driver(driver).soft_budget(duration(0)));
    busy_work busy;
    ASSERT_TRUE(rt.post(busy));
    while (!busy.runs) {
        std::this_thread::yield();
    }
    std::thread ending([&] { rt.shut_down(); });
    std::deque<counted_work> probes;
    while (rt.post(probes.emplace_back())) {
        std::this_thread::sleep_for(1ms);
    }
    counted_work last;
    counted_work late;
    driver.add([&] {
        busy.released = true;
        std::this_thread::sleep_for(100ms);  // without it the test checks less
        EXPECT_TRUE(rt.get_executor().post(last));
        EXPECT_TRUE(rt.get_executor().post_last(late));
    });
    ending.join();
    EXPECT_EQ(last.ran, 1);
    EXPECT_EQ(late.ran, 1);
}

INSTANTIATE_TEST_SUITE_P(workers, inside_driver, testing::Values(1U, 2U));

}  // namespace
