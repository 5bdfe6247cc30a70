#include <roost/runtime/run.hpp>
#include <roost/task/on.hpp>
#include <roost/task/sleep.hpp>

#include "fixture.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using namespace runtime_tests;
using namespace std::chrono_literals;

task<int> there(runtime* a, runtime* b, int* local) {
    EXPECT_TRUE(b->get_executor().is_here());
    EXPECT_FALSE(a->get_executor().is_here());
    co_await sleep_for(1ms);
    EXPECT_TRUE(b->get_executor().is_here()) << "after an await it is still there";
    *local = 1;
    co_return 42;
}
task<void> fail_there() {
    co_await sleep_for(1ms);
    throw std::runtime_error("broken");
}
task<int> here(runtime* a, runtime* b) {
    int local = 0;
    EXPECT_TRUE(a->get_executor().is_here());
    const int value = co_await on(*b, there(a, b, &local));
    EXPECT_TRUE(a->get_executor().is_here()) << "back again";
    EXPECT_EQ(local, 1);
    bool failed = false;
    try {
        co_await on(*b, fail_there());
    } catch (const std::runtime_error&) {
        failed = true;
    }
    EXPECT_TRUE(failed);
    EXPECT_TRUE(a->get_executor().is_here());
    co_return value;
}

TEST(on, RUN_112_runs_there_and_comes_back_with_the_result) {
    runtime a(runtime_options().workers(1).name("a"));
    runtime b(runtime_options().workers(2).name("b"));
    EXPECT_EQ(run(a, here(&a, &b)), 42);
}

struct seen {
    atomic<std::uint32_t> began{0};
    bool died_there = false;
    bool caller_lived = false;
};
struct on_death {
    runtime* where;
    seen* out;
    bool* callers;
    on_death(runtime* w, seen* o, bool* c) : where(w), out(o), callers(c) {}
    on_death(const on_death&) = delete;
    ~on_death() {
        out->died_there = where->get_executor().is_here();
        out->caller_lived = *callers;
    }
};
task<void> sleep_there(runtime* b, seen* out, bool* callers) {
    on_death watch(b, out, callers);
    out->began.store(1, mo::release);
    co_await sleep_for(1h);
}
struct alive_flag {
    bool alive = true;
    alive_flag() = default;
    ~alive_flag() { alive = false; }
};
task<void> call_there(runtime* b, seen* out) {
    alive_flag mine;
    co_await on(*b, sleep_there(b, out, &mine.alive));
}
task<void> cancel_it(scope& s, runtime* b, seen* out) {
    job j = s.launch("caller", call_there(b, out));
    while (out->began.load(mo::acquire) == 0) {
        co_await sleep_for(100us);
    }
    j.cancel();
}
task<void> cancelled(runtime* b, seen* out) { co_await with_scope(cancel_it, b, out); }

TEST(on, RUN_113_is_cancelled_with_its_caller_and_dies_there_first) {
    runtime a(runtime_options().workers(1).name("a"));
    runtime b(runtime_options().workers(1).name("b"));
    seen out;
    run(a, cancelled(&b, &out));
    EXPECT_TRUE(out.died_there) << "frames die on their own executor";
    EXPECT_TRUE(out.caller_lived) << "before the caller's locals";
}

}  // namespace
