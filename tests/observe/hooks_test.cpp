#include <roost/observe/hooks.hpp>

#include <roost/base/detail/what_runs.hpp>

#include "../task/rig.hpp"

#include <concepts>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;

// Sets `next`, then the previous value again: each call returns what the one before had set.
template <class Value>
void set_and_set_back(Value (*set)(Value) noexcept, Value next) {
    const Value previous = set(next);
    EXPECT_TRUE(set(previous) == next);
    EXPECT_TRUE(set(previous) == previous);
}

void on_panic(const char*) {}
void on_failure_of(std::string_view, std::string_view, site, std::exception_ptr) noexcept {}
void on_record(void*, const shutdown_record&) noexcept {}
std::string_view find_nothing(site& /*where*/, site& /*continued*/) noexcept { return {}; }

static_assert(std::same_as<decltype(set_panic_handler(nullptr)), panic_handler>);
static_assert(std::same_as<decltype(set_failure_sink(nullptr)), failure_sink>);
static_assert(std::same_as<decltype(set_fallback_executor({})), executor_ref>);
static_assert(std::same_as<decltype(set_shutdown_log({})), shutdown_log_sink>);
static_assert(std::same_as<decltype(set_guard_tracking(guard_tracking::off)), guard_tracking>);
static_assert(std::same_as<decltype(set_job_counting(true)), bool>);

TEST(hooks, OBS_2_each_setter_returns_the_previous_value) {
    set_and_set_back<panic_handler>(set_panic_handler, on_panic);
    set_and_set_back<failure_sink>(set_failure_sink, on_failure_of);
    rig::manual other;
    set_and_set_back<executor_ref>(set_fallback_executor, other);
    set_and_set_back<guard_tracking>(set_guard_tracking, guard_tracking::exact);
    set_and_set_back<bool>(set_job_counting, true);
    set_and_set_back<detail::running_function>(detail::set_running_function, find_nothing);
}

TEST(hooks, OBS_2_a_log_comes_back_with_its_context) {
    int context = 0;
    const shutdown_log_sink before = set_shutdown_log({on_record, &context});
    const shutdown_log_sink mine = set_shutdown_log(before);
    EXPECT_EQ(mine.function(), &on_record);
    EXPECT_EQ(mine.context(), &context);
    EXPECT_EQ(set_shutdown_log(nullptr).function(), before.function());
    EXPECT_EQ(set_shutdown_log(before).function(), nullptr);
}

}  // namespace
