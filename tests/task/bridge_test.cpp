// The way back from a foreign library: any thread, any moment.
#include <roost/task/detail/frame/bridge.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <thread>
#include <vector>

using namespace roost;

namespace {

// Resumes on a new thread, possibly before await_suspend has returned.
class new_thread {
public:
    explicit new_thread(std::vector<std::thread>& threads) : threads_(&threads) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const {
        threads_->emplace_back([h] { h.resume(); });
    }
    [[nodiscard]] std::thread::id await_resume() const noexcept { return std::this_thread::get_id(); }

private:
    std::vector<std::thread>* threads_;
};

task<> hop(std::vector<std::thread>& threads, int rounds, int& at_home) {
    const job me = co_await this_job();
    const auto home = std::this_thread::get_id();
    for (int i = 0; i < rounds; ++i) {
        const auto after = co_await new_thread(threads);
        at_home += after == home && current_job() == me ? 1 : 0;
    }
}

TEST(bridge, TASK_14_however_often_it_is_resumed_elsewhere_it_goes_on_at_home) {
    rig::stage s;
    std::vector<std::thread> threads;
    int at_home = 0;
    const job j = s.start(hop(threads, 50, at_home));
    while (!j.is_finished()) {
        if (!s.executor.run_one()) {
            std::this_thread::yield();
        }
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_EQ(at_home, 50);
}

}  // namespace
