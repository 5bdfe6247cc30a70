// Mistakes that the compiler refuses, each with a sentence that says what to write instead.
// TASK_152, TASK_153, TASK_154, TASK_155, TASK_158, SYNC_194, BASE_57: see docs/guide/mistakes.md.
#include <roost/roost.hpp>

#include <chrono>
#include <coroutine>
#include <functional>

using namespace roost;
using namespace std::chrono_literals;

struct other {
    struct promise_type {
        other get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};

task<int> one() { co_return 1; }
task<> adds(scope&, int& n) {
    ++n;
    co_return;
}
task<> child(int& n) {
    ++n;
    co_return;
}

task<> fine(supervisor& s, event& e, int& n) {
    co_await with_scope(adds, std::ref(n));
    s.launch("child", child, std::ref(n));
    auto all = co_await when_all(one(), one());
    static_cast<void>(all);
    static_cast<void>(e.wait_blocking(1s));
}

#ifdef FAIL_1
task<> TASK_153_forgets_ref() {
    int n = 0;
    co_await with_scope(adds, n);  // expect: for a parameter that is a reference write std::ref(x)
}
#endif

#ifdef FAIL_2
task<> TASK_154_changes_a_copy(supervisor& s, int n) {
    s.launch("child", child, n);  // expect: takes a reference to an argument that is passed as a copy
    co_return;
}
#endif

#ifdef FAIL_3
task<> TASK_155_all_of_no_task() {
    co_await when_all(1, one());  // expect: when_all takes tasks and what a task can await
}
#endif

#ifdef FAIL_4
task<> race_of_no_task() {
    co_await race(1, one());  // expect: race takes tasks and what a task can await
}
#endif

#ifdef FAIL_5
other TASK_152_awaits_a_task() {
    static_cast<void>(co_await one());  // expect: only a roost::task can await this
}
#endif

#ifdef FAIL_6
other sleeps() {
    co_await sleep_for(1s);  // expect: only a roost::task can await this
}
#endif

#ifdef FAIL_7
task<> locks_nothing(mutex& m) {
    m.lock();  // expect: nothing is held until it is awaited: write co_await
    co_return;
}
#endif

#ifdef FAIL_8
task<> sends_nothing(channel<int>& c) {
    c.send(1);  // expect: nothing is sent until it is awaited: write co_await
    co_return;
}
#endif

#ifdef FAIL_9
task<> joins_nothing(job& j) {
    j.join();  // expect: it waits only when it is awaited: write co_await
    co_return;
}
#endif

#ifdef FAIL_10
task<> does_not_sleep() {
    sleep_for(1s);  // expect: it sleeps only when it is awaited: write co_await
    co_return;
}
#endif

#ifdef FAIL_11
task<> SYNC_194_waits_for_a_duration(event& e) {
    static_cast<void>(co_await with_deadline(e.wait(), 1s));  // expect: with_deadline takes a time of the executor's timers
}
#endif

#ifdef FAIL_12
void BASE_57_waits_for_the_wall_clock(event& e) {
    static_cast<void>(
        e.wait_blocking(std::chrono::system_clock::now() + 1s));  // expect: a deadline is a time of a monotonic clock
}
#endif

#ifdef FAIL_13
task<> acquires_nothing(pool<int>& p) {
    p.acquire();  // expect: nothing is held until it is awaited: write co_await
    co_return;
}
#endif

#ifdef FAIL_14
task<> never_runs() {
    one();  // expect: a task does nothing until it is awaited or launched
    co_return;
}
#endif

#ifdef FAIL_15
task<> drops_the_guard(mutex& m) {
    m.lock_blocking();  // expect: the lock is released at once unless the guard has a name
    co_return;
}
#endif

#ifdef FAIL_16
task<> body(supervisor&, int&) { co_return; }
task<> supervises() {
    int n = 0;
    auto ended =
        co_await supervise(on_failure::ignore(), body, n);  // expect: for a parameter that is a reference write std::ref(x)
}
#endif

#ifdef FAIL_17
task<> attempt(int&) { co_return; }
task<> retries() {
    int n = 0;
    co_await retry(backoff(1ms), 3, attempt, n);  // expect: takes a reference to an argument that is passed as a copy
}
#endif

#ifdef FAIL_18
task<> TASK_158_times_a_number() {
    co_await fail_after(1s, 5);  // expect: fail_after(limit, task) takes a task or something that a task can await
}
#endif

#ifdef FAIL_19
task<> TASK_158_limits_by_a_number() {
    static_cast<void>(co_await move_on_after(5, one()));  // expect: move_on_after(limit, task): the limit is a duration
}
#endif

#ifdef FAIL_20
int no_task(scope&) { return 3; }
task<> body_is_no_task() {
    co_await with_scope(no_task);  // expect: with_scope(fn, args...): fn(scope&, args...) has to return a task
}
#endif

#ifdef FAIL_21
task<> awaits_a_name() {
    auto t = one();
    static_cast<void>(co_await t);  // expect: a task runs once, so it is awaited as an rvalue
}
#endif

#ifdef FAIL_22
task<> forgets_to_call() {
    co_await one;  // expect: this cannot be awaited; is it a function that was to be called: co_await f()?
}
#endif

#ifdef FAIL_23
task<> cleans_up_early(scope& s, int& n) {
    co_await on_exit(adds(s, n));  // expect: on_exit(fn, args...): fn(args...) cannot be called with these arguments
}
#endif

#ifdef FAIL_24
task<> starts_without_a_parameter(scope& s) {
    static_cast<void>(
        co_await launch_started<int>(s, "x", one));  // expect: fn(started<T>, args...) cannot be called with these
}
#endif
