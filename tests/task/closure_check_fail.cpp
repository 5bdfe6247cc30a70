// TASK_33: on g++ 12.0-12.2 a closure that owns something is refused inside an await, and the message says what to write.
#include <roost/task/detail/closure_check.hpp>
#include <roost/task/scope.hpp>

#include <string>

using namespace roost;

task<> body(scope&, std::string) { co_return; }

task<> fine() {
    co_await with_scope(body, std::string("passed as an argument"));
    co_await with_scope([](scope&) -> task<> { co_return; });
}

#ifdef FAIL_1
// expect: pass it as arguments instead
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12 && __GNUC_MINOR__ <= 2
task<> owns_a_string() {
    std::string text = "captured";
    co_await with_scope([text](scope&) -> task<> { co_return; });
}
#else
static_assert(false, "pass it as arguments instead: this compiler gets closures right");
#endif
#endif
