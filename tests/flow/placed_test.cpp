// Reports, reasons and failures name the line that the user wrote, whatever the call is made of.

#include <roost/flow/detail/placed.hpp>
#include <roost/flow/map_concurrent.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/retry.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/observe/dump.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/timeout.hpp>

#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;

task<> waits(event& e) { co_await e.wait(); }
task<int> waits_for_item(std::reference_wrapper<event> e) {
    co_await e.get().wait();
    co_return 1;
}
task<> child(scope& s, event& e) {
    s.launch("child", waits(e));
    co_return;
}
task<> supervised(supervisor& s, event& e) {
    s.launch("child", waits, std::ref(e));
    co_return;
}
task<> served(scope& s, event& e) {
    s.launch("child", waits(e));
    co_return;
}
task<> limited(scope& s, event& e) {
    s.launch("child", waits(e));
    co_return;
}

// Each with the line of its call: what is shown below the job has to be that.
task<> all_of_five(event& e, unsigned& line) {
    line = __LINE__ + 1;
    static_cast<void>(co_await when_all(waits(e), waits(e), waits(e), waits(e), waits(e)));
}
task<> race_of_five(event& e, unsigned& line) {
    line = __LINE__ + 1;
    static_cast<void>(co_await race(waits(e), waits(e), waits(e), waits(e), waits(e)));
}
task<> collects(event& e, unsigned& line) {
    line = __LINE__ + 1;
    co_await with_scope(scope_options("collect").keep_going(), child, std::ref(e));
}
task<> supervises(event& e, unsigned& line) {
    const on_failure policy = on_failure::ignore();
    line = __LINE__ + 1;
    static_cast<void>(co_await supervise(policy, supervised, std::ref(e)));
}
task<> serves(event& e, unsigned& line) {
    line = __LINE__ + 1;
    co_await with_scope(served, std::ref(e));
}
task<> limits(event& e, unsigned& line) {
    line = __LINE__ + 1;
    co_await with_scope(scope_options("limited scope").at_most(2), limited, std::ref(e));
}
task<> maps(event& e, unsigned& line) {
    std::vector<std::reference_wrapper<event>> items(2, std::ref(e));
    line = __LINE__ + 1;
    static_cast<void>(co_await map_concurrent(items, 2, waits_for_item));
}

// What is shown of the innermost of several nodes of Roost's own has the line; nothing is shown that is in Roost.
void expect_line(task<> (*body)(event&, unsigned&)) {
    rig::stage s;
    event e("e");
    unsigned line = 0;
    s.start(body(e, line), "asks");
    s.run();
    std::string shown = dump(s.root);
    for (auto at = shown.find("rig.hpp:"); at != std::string::npos; at = shown.find("rig.hpp:")) {
        shown.replace(at, 8, "rig:");  // of the tests, where root and job are made
    }
    EXPECT_NE(shown.find("placed_test.cpp:" + std::to_string(line)), std::string::npos) << shown;
    EXPECT_EQ(shown.find(".hpp:"), std::string::npos) << shown;
    EXPECT_EQ(shown.find("unknown site"), std::string::npos) << shown;
    e.set();
    s.run();
}

TEST(placed, JOB_146_reports_show_the_line_of_the_call) {
    for (const auto body : {all_of_five, race_of_five, collects, supervises, serves, limits, maps}) {
        expect_line(body);
    }
}

task<int> fails() {
    throw std::runtime_error("no route");
    co_return 1;
}
unsigned retried_at = 0;
task<> retries() {
    retried_at = __LINE__ + 1;
    static_cast<void>(co_await retry(backoff(1s), 3, fails));
}

unsigned heard_line = 0;
void listen(std::string_view, std::string_view, site where, std::exception_ptr) noexcept { heard_line = where.line(); }

TEST(placed, JOB_146_a_failed_attempt_has_the_place_of_its_retry) {
    const failure_sink before = set_failure_sink(&listen);
    rig::stage s;
    const job j = s.play(retries());
    j.cancel();
    s.run();
    set_failure_sink(before);
    EXPECT_EQ(heard_line, retried_at);
}

TEST(placed, JOB_146_limits_of_zero_are_refused_with_their_place) {
    EXPECT_DEATH(static_cast<void>(retry(backoff(1ms), 0, fails)), "retry .made at .*placed_test.cpp:.*zero attempts");
    EXPECT_DEATH(static_cast<void>(map_concurrent(std::vector<std::reference_wrapper<event>>(), 0, waits_for_item)),
                 "map_concurrent .made at .*placed_test.cpp:");
    event e;
    EXPECT_DEATH(static_cast<void>(with_scope(scope_options("limited scope").at_most(0), limited, std::ref(e))),
                 "scope .limited scope. .made at .*placed_test.cpp:");
}

TEST(placed, JOB_146_an_argument_brings_the_place_of_its_call) {
    const auto line_of = [](const detail::placed<int>& x) { return x.site().line(); };
    const auto value_of = [](detail::placed<int> x) { return x.value(); };
    EXPECT_EQ(line_of(7), std::uint_least32_t(__LINE__));
    EXPECT_EQ(line_of({}), std::uint_least32_t(__LINE__));
    EXPECT_EQ(value_of(7), 7);
}

}  // namespace
