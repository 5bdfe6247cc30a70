// The Nth call into user code throws, and the Nth allocation of the calling thread fails, for N = 0, 1, 2, ... in what the
// runtime offers: blocking work, run(), on(). The call ends with that error, nothing is lost, and the runtime goes on.
#include <roost/runtime/blocking.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/on.hpp>

#include "fixture.hpp"
#include "throwing_thing.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
thread_local long allocations_left = -1;  // negative: never fail
thread_local bool is_test_thread = false;
std::atomic<bool> others_fail{false};
std::atomic<long> failed_elsewhere{0};

void* allocate_or_fail(std::size_t size) {
    if (others_fail.load() && !is_test_thread) {
        failed_elsewhere.fetch_add(1);
        throw std::bad_alloc();
    }
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
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace roost;
using namespace roost::ext;

using throwing::alive;
using throwing::call;
using throwing::calls_left;
using throwing::thing;
using throwing::thrown;

thing twice(const thing& in) {
    call();
    return thing(in.value * 2);
}
task<thing> doubled(thing in) {
    call();
    const thing out = co_await blocking(twice, in);
    call();
    co_return out;
}
task<int> all(executor_ref where) {
    const thing once = co_await doubled(thing(1));
    const thing again = co_await on(where, doubled(once));
    co_return again.value;
}

TEST(nth_failure, RUN_95_a_throw_anywhere_in_blocking_work_and_tasks) {
    runtime rt(runtime_options().workers(2));
    int n = 0;
    for (; n < 300; ++n) {
        calls_left = n;
        bool threw = false;
        try {
            EXPECT_EQ(run(rt, all(rt)), 4);
        } catch (const thrown&) {
            threw = true;
        }
        const bool untouched = calls_left >= 0;
        calls_left = -1;
        EXPECT_EQ(threw, !untouched) << "call " << n;
        EXPECT_EQ(alive, 0) << "call " << n;
        EXPECT_EQ(run(rt, all(rt)), 4) << "the runtime goes on";
        if (untouched) {
            break;
        }
    }
    EXPECT_LT(n, 300);
    EXPECT_GT(n, 5);
}

struct blocks : blocking_work {
    explicit blocks(runtime_tests::countdown& c)
        : blocking_work(+[](work& w) noexcept { static_cast<blocks&>(w).done.down(); }), done(c) {}
    runtime_tests::countdown& done;
};

// A thread of the runtime has no caller to throw to, so it needs no memory: for its name, for a timer, for a report of a slow body.
TEST(nth_failure, RUN_123_threads_of_a_runtime_allocate_nothing_of_their_own) {
    is_test_thread = true;
    failed_elsewhere = 0;
    for (const unsigned workers : {1U, 2U}) {
        runtime_tests::countdown done(3);
        runtime_tests::call body([&] { done.down(); });
        runtime_tests::test_timer alarm([&] { done.down(); });
        blocks blocking_body(done);
        others_fail = true;
        runtime rt(runtime_options().workers(workers).name("a runtime with a name that fits into no small string"));
        EXPECT_TRUE(rt.post(body));
        alarm.set_deadline(deadline_after(now(), std::chrono::milliseconds(1)));
        EXPECT_TRUE(rt.timers().arm(alarm));
        EXPECT_TRUE(rt.blocking().submit(blocking_body));
        done.wait();
        rt.shut_down();
        others_fail = false;
    }
    EXPECT_EQ(failed_elsewhere.load(), 0);
}

TEST(nth_failure, RUN_123_without_memory_a_slow_body_is_reported_in_a_shorter_sentence) {
    is_test_thread = true;
    ::testing::internal::CaptureStderr();
    {
        runtime rt(runtime_options().workers(2).soft_budget(std::chrono::milliseconds(5)));
        runtime_tests::call slow([&] {
            const detail::activity_label label("grind", site::here());
            const detail::running_as scope(label);
            for (const time_point until = deadline_after(now(), std::chrono::seconds(10));
                 failed_elsewhere.load() == 0 && now() < until;) {}
        });
        failed_elsewhere = 0;
        others_fail = true;
        EXPECT_TRUE(rt.post(slow));
        rt.shut_down();
        others_fail = false;
    }
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("'grind' has run for "), std::string::npos) << said;
    EXPECT_NE(said.find("ms without suspending"), std::string::npos) << said;
}

task<int> simple() { co_return 3; }

TEST(nth_failure, RUN_95_an_allocation_that_fails_while_a_runtime_is_made_or_entered) {
    int n = 0;
    for (; n < 300; ++n) {
        bool untouched = false;
        try {
            allocations_left = n;
            EXPECT_EQ(run(simple(), runtime_options().workers(2)), 3);
            untouched = allocations_left >= 0;
        } catch (const std::bad_alloc&) {
        } catch (const std::system_error&) {  // a thread that could not be made
        }
        allocations_left = -1;
        if (untouched) {
            break;
        }
    }
    EXPECT_LT(n, 300);
    EXPECT_GT(n, 5);
}

}  // namespace
