// Destroying a coroutine that is suspended: what was built must be destroyed, once, and nothing else.
#define PROBE_GROUP "teardown"
#include "probe.hpp"

#include <string>
#include <vector>

using namespace probe;

namespace {

task<tracked> parked_object() {
    co_await park();
    co_return tracked(1);
}
task<int> parked_number() {
    co_await park();
    co_return 1;
}
task<int> two(tracked a, tracked b) {
    co_await hop();
    co_return a + b;
}
task<int> view(const tracked& t) {
    co_await park();
    co_return t;
}
struct pair_of {
    tracked first, second;
};

// Runs t up to its park() and destroys it there.
template <class T>
void destroy_while_parked(task<T> t) {
    PROBE_EXPECT(!drive(t));
}

task<void> with_locals() {
    tracked a(1);
    std::string text(100, 'x');
    {
        tracked gone(2);
        co_await hop();
    }
    tracked b(3);
    co_await park();
    tracked never(4);
}
task<void> with_parameters(tracked a, std::vector<tracked> b) {
    co_await park();
    (void)a, (void)b;
}
task<void> in_try() {
    try {
        tracked a(1);
        co_await park();
    } catch (...) {
        probe::fail(__FILE__, __LINE__, "destroying a coroutine must not run its handlers");
    }
}
task<void> in_loop() {
    for (int i = 0; i < 3; ++i) {
        tracked a(i);
        if (i == 1) co_await park();
        co_await hop();
    }
}
task<void> with_reference_to_temporary() { (void)co_await view(tracked(1)); }
task<void> with_arguments_before() { (void)co_await two(tracked(1), co_await parked_object()); }
task<void> with_arguments_awaited() { (void)co_await two(co_await make(1), co_await parked_object()); }
task<void> in_sum() { (void)(tracked(1).self() + co_await parked_number()); }
task<void> in_aggregate() {
    pair_of p{tracked(1), co_await parked_object()};
    (void)p;
}
task<void> in_array() {
    tracked list[3] = {tracked(1), tracked(2), co_await parked_object()};
    (void)list;
}
task<void> in_structured_binding() {
    auto make_pair = []() -> task<std::pair<tracked, tracked>> {
        co_await hop();
        co_return std::pair<tracked, tracked>(1, 2);
    };
    auto [a, b] = co_await make_pair();
    co_await park();
    (void)a, (void)b;
}
task<void> in_range_for() {
    std::vector<tracked> list(3);
    for (tracked t : list) {
        (void)t;
        co_await park();
    }
}
task<void> in_condition() {
    tracked a(1);
    if (tracked t = co_await parked_object()) (void)t;
}
task<int> nested(int depth) {
    tracked t(depth);
    if (depth == 0)
        co_await park();
    else
        co_return co_await nested(depth - 1);
    co_return t;
}
task<void> awaiting_named_task() {
    auto t = nested(3);
    (void)co_await t;
}

} // namespace

PROBE_CASE(locals) { destroy_while_parked(with_locals()); }
PROBE_CASE(parameters) { destroy_while_parked(with_parameters(tracked(1), std::vector<tracked>(3))); }
PROBE_CASE(inside_try) { destroy_while_parked(in_try()); }
PROBE_CASE(inside_loop) { destroy_while_parked(in_loop()); }
PROBE_CASE(temporary_bound_to_reference) { destroy_while_parked(with_reference_to_temporary()); }
PROBE_CASE(argument_before_awaited_argument) { destroy_while_parked(with_arguments_before()); }
PROBE_CASE(two_awaited_arguments) { destroy_while_parked(with_arguments_awaited()); }
PROBE_CASE(inside_expression) { destroy_while_parked(in_sum()); }
PROBE_CASE(inside_aggregate_braces) { destroy_while_parked(in_aggregate()); }
PROBE_CASE(inside_array_braces) { destroy_while_parked(in_array()); }
PROBE_CASE(structured_binding) { destroy_while_parked(in_structured_binding()); }
PROBE_CASE(inside_range_for) { destroy_while_parked(in_range_for()); }
PROBE_CASE(inside_condition) { destroy_while_parked(in_condition()); }
PROBE_CASE(nested_tasks) { destroy_while_parked(nested(5)); }
PROBE_CASE(named_task) { destroy_while_parked(awaiting_named_task()); }
PROBE_CASE(at_final_suspend) {
    auto t = make(7);
    PROBE_EXPECT(drive(t));
}
PROBE_CASE(never_started) { auto t = with_parameters(tracked(1), std::vector<tracked>(3)); }
