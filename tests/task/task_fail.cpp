// TASK_33: misuse that the compiler refuses, in our words.
#include <roost/task/deferred.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/task.hpp>

using namespace roost;

task<int> make() { co_return 1; }

task<> fine() {
    auto t = make();
    static_cast<void>(co_await std::move(t));
}

#ifdef FAIL_1
task<> awaits_an_lvalue() {
    auto t = make();
    static_cast<void>(co_await t);  // expect: a task runs once, so it is awaited as an rvalue
}
#endif

#ifdef FAIL_2
task<> discards() {
    make();  // expect: a task does nothing until it is awaited or launched
    co_return;
}
#endif

#ifdef FAIL_3
task<int&> returns_a_temporary() {
    co_return 5;  // expect: return_value
}
#endif

#ifdef FAIL_4
task<> drops(scope& s) {
    s.async("child", make());  // expect: nodiscard
    co_return;
}
#endif

#ifdef FAIL_5
int no_task(scope&) { return 1; }
task<> scope_of_no_task() {
    static_cast<void>(co_await with_scope(no_task));  // expect: has to return a task
}
#endif

#ifdef FAIL_6
task<> copies() {
    auto t = make();
    auto u = t;  // expect: deleted
    co_return;
}
#endif

#ifdef FAIL_7
task<int> awaits_a_deferred_lvalue(scope& s) {
    auto child = s.async("child", make());
    co_return co_await child;  // expect: this is awaited once, as an rvalue
}
#endif

#ifdef FAIL_8
task<> awaits_a_function() {
    co_await make;  // expect: this cannot be awaited; is it a function that was to be called
}
#endif

#ifdef FAIL_9
generator<int> ignores_cancellation() {
    auto guard = co_await ignore_cancellation();  // expect: ignore_cancellation is for tasks
    co_yield 1;
}
#endif

#ifdef FAIL_10
task<> nothing() { co_return; }
generator<int> cleans_up() {
    co_await on_exit(nothing);  // expect: on_exit is for tasks
    co_yield 1;
}
#endif
