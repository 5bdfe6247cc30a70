// A name that is no literal is on the worker's stack while the job runs there. A call that waits for the lane outlives that.

#include <roost/runtime/blocking.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/owned_scope.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace {

using namespace roost;

void wait_for(const std::atomic<bool>* done) {
    while (!*done) {
        std::this_thread::yield();
    }
}
task<> call(const std::atomic<bool>* done) { co_await blocking(wait_for, done); }
task<> do_nothing() { co_return; }

std::string only_call(const blocking_lane& lane) {
    const auto running = lane.running();
    return running.size() == 1 ? running.front().name() : "";
}

TEST(blocking_name_test, a_call_that_was_queued_has_the_name_of_its_job) {
    runtime rt(runtime_options().workers(1).blocking_threads(1));
    owned_scope root(rt, scope_options("root").report_failures());
    std::atomic<bool> first_done{false};
    std::atomic<bool> second_done{false};
    root.launch("first", call(&first_done));
    root.launch(std::string("second ") + "of two", call(&second_done));
    const job other = root.launch(std::string("another") + " job", do_nothing());  // where the name of the second was
    while (!is_final(other.state())) {
        std::this_thread::yield();
    }
    first_done = true;
    std::string name = only_call(rt.blocking());
    while (name == "" || name == "first") {
        std::this_thread::yield();
        name = only_call(rt.blocking());
    }
    EXPECT_EQ(name, "second of two");
    second_done = true;
    root.close_blocking();
}

}  // namespace
