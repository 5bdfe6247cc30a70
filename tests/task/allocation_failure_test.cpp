// The Nth allocation of every public operation fails, for N = 0, 1, 2, ... until nothing is left to fail. Each run is on a
// thread of its own, whose frame cache is empty, so that every frame and block counts.
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/coalescer.hpp>
#include <roost/task/external.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shared_deferred.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/trace.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <thread>

namespace {
thread_local long allocations_left = -1;  // negative: never fail

void* allocate_or_fail(std::size_t size) {
    if (allocations_left >= 0 && allocations_left-- == 0) {
        allocations_left = -1;
        throw std::bad_alloc();
    }
    if (void* memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return allocate_or_fail(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return allocate_or_fail(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace roost;
using namespace std::chrono_literals;

task<int> leaf(int v) {
    co_await yield();
    co_return v;
}
task<int> two_children(scope& s) {
    auto a = s.async(std::string("a copied name that is long"), leaf(1));
    auto b = s.async("b", leaf(2));
    const int x = co_await std::move(a);
    const int y = co_await std::move(b);
    co_return x + y;
}
task<> nothing() { co_return; }

task<> scopes() { static_cast<void>(co_await with_scope(two_children)); }
task<> outcomes() { static_cast<void>(co_await as_outcome(with_scope(two_children))); }
task<> deadlines() {
    static_cast<void>(co_await fail_after(1h, leaf(1)));
    static_cast<void>(co_await move_on_after(1h, leaf(2)));
    static_cast<void>(co_await shield(1h, leaf(3)));
}
task<> exits() {
    co_await on_exit(nothing);
    static_cast<void>(co_await trace(std::string("a note that needs memory of its own"), leaf(1)));
}
task<> externals_in(scope& s) {
    auto made = bridge<int>(s, "external", external_cancel::abandon);
    made.second.set_value(4);
    static_cast<void>(co_await std::move(made.first));
    auto dropped = bridge<int>(s, "dropped", external_cancel::uninterruptible);
    dropped.second = promise<int>();
    static_cast<void>(co_await as_outcome(std::move(dropped.first)));
}
task<> externals() { static_cast<void>(co_await as_outcome(with_scope(externals_in))); }
task<> sharing_in(scope& s) {
    const shared_deferred<int> shared(s.async("shared", leaf(1)));
    static_cast<void>(co_await shared);
    coalescer<int, int> c(s);
    static_cast<void>(co_await c.coalesce(1, leaf));
}
task<> sharing() { co_await with_scope(sharing_in); }

using scenario = task<> (*)();

// True: it went through without a failure.
bool run_with(scenario make, long n) {
    rig::stage s;
    bool started = false;
    job j;
    allocations_left = n;
    try {
        j = s.start(make());
        started = true;
        s.run();
    } catch (const std::bad_alloc&) {
        EXPECT_FALSE(started) << "after the start a failure belongs to the job";
    }
    const bool untouched = allocations_left >= 0;
    allocations_left = -1;
    s.run();
    if (started) {
        EXPECT_TRUE(j.is_finished());
    }
    const job again = s.play(scopes());
    EXPECT_EQ(again.state(), job_state::completed) << "the scope can be used again";
    return untouched;
}

void exhaust(scenario make, const char* name) {
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    bool went_through = false;
    long n = 0;
    for (; n < 200 && !went_through; ++n) {
        std::thread([&] { went_through = run_with(make, n); }).join();
    }
    set_failure_sink(before);
    EXPECT_TRUE(went_through) << name;
    EXPECT_GT(n, 2) << name << " allocated nothing, so nothing was tested";
}

TEST(allocation_failure, TASK_34_scopes) { exhaust(scopes, "scopes"); }
TEST(allocation_failure, TASK_34_outcomes) { exhaust(outcomes, "outcomes"); }
TEST(allocation_failure, TASK_34_deadlines_and_shields) { exhaust(deadlines, "deadlines"); }
TEST(allocation_failure, TASK_34_exits_and_traces) { exhaust(exits, "exits"); }
TEST(allocation_failure, TASK_34_externals) { exhaust(externals, "externals"); }
TEST(allocation_failure, TASK_34_sharing) { exhaust(sharing, "sharing"); }

}  // namespace
