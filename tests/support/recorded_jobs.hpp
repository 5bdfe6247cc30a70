#pragma once

// Short runs for tests of the flight recorder.

#include <roost/observe/recording.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace testing_support {

inline roost::task<> wait_for(roost::event& e) { co_await e.wait(); }
inline roost::task<> yield_once() { co_await roost::yield(); }
inline roost::task<> waiter_and_waker(roost::scope& s, roost::event& e) {
    s.launch("waiter", wait_for(e));
    co_await roost::yield();
    e.set();
}
inline roost::task<> many_jobs(roost::scope& s, int n, std::string name) {
    for (int i = 0; i < n; ++i) {
        s.launch(std::string_view(name), yield_once());
        co_await roost::yield();
    }
}

// One job waits for an event, another one sets it, on one worker.
inline void run_waiter() {
    roost::event e("door");
    roost::runtime threads(roost::runtime_options().workers(1));
    roost::block_on(threads, roost::with_scope(waiter_and_waker, std::ref(e)));
}
inline void run_jobs(int n, std::string name = "job") {
    roost::runtime threads(roost::runtime_options().workers(1));
    roost::block_on(threads, roost::with_scope(many_jobs, n, std::move(name)));
}

inline std::size_t count_of(const roost::observe::recording& r, roost::observe::recorded_kind k) {
    return static_cast<std::size_t>(
        std::count_if(r.events().begin(), r.events().end(), [&](const auto& e) { return e.kind() == k; }));
}

inline std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
inline std::string temporary_path(const char* name) {
    return ::testing::TempDir() + "roost_" + std::to_string(::getpid()) + "_" + name;
}

}  // namespace testing_support
