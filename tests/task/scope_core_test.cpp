// Folding of failures, independent of timing: every order in which children fail, are cancelled and complete.
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/job/scope_core.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <time.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// Ends as told when its event is set, even if it has been cancelled meanwhile.
task<> stubborn(event& e, bool fail, int id) {
    auto guard = co_await ignore_cancellation();
    co_await e.wait();
    if (fail) {
        throw std::runtime_error(std::to_string(id));
    }
}
task<> two(scope& s, event* events, std::vector<job>& jobs) {
    jobs.push_back(s.launch("one", stubborn(events[0], true, 1)));
    jobs.push_back(s.launch("two", stubborn(events[1], true, 2)));
    jobs.push_back(s.launch("three", stubborn(events[2], false, 3)));
    co_return;
}
task<> run_two(event* events, std::vector<job>& jobs, std::string& first, std::size_t& others, bool& was_cancelled) {
    auto ended = co_await as_outcome(with_scope(two, events, std::ref(jobs)));
    first = describe(ended.error());
    others = ended.others().size();
    was_cancelled = ended.is_cancelled();
}

TEST(scope_core, JOB_4_a_failure_outranks_every_cancellation_in_every_order) {
    std::vector<int> order{0, 1, 2, 3};  // set event 0, 1, 2; cancel the whole job
    do {
        rig::stage s;
        event events[3];
        std::vector<job> jobs;
        std::string first;
        std::size_t others = 0;
        bool was_cancelled = false;
        const job j = s.play(run_two(events, jobs, first, others, was_cancelled));
        for (const int step : order) {
            if (step == 3) {
                j.cancel();
            } else {
                events[step].set();
            }
            s.run();
        }
        const bool one_first = std::find(order.begin(), order.end(), 0) < std::find(order.begin(), order.end(), 1);
        EXPECT_EQ(first, one_first ? "std::runtime_error: 1" : "std::runtime_error: 2");
        EXPECT_EQ(others, 1U);
        EXPECT_FALSE(was_cancelled);
        EXPECT_EQ(j.state(), job_state::completed) << "an error is delivered as data even to a cancelled job";
    } while (std::next_permutation(order.begin(), order.end()));
}

task<> awaits_both(scope& s, event* events) {
    auto a = s.async("one", stubborn(events[0], true, 1));
    auto b = s.async("two", stubborn(events[1], false, 2));
    co_await std::move(b);
    co_await std::move(a);
}
task<> run_awaits(event* events, std::string& first, std::size_t& others) {
    auto ended = co_await as_outcome(with_scope(awaits_both, events));
    first = describe(ended.error());
    others = ended.others().size();
}

TEST(scope_core, JOB_15_a_parent_sees_the_same_outcome_whenever_the_child_failed) {
    for (const bool child_first : {true, false}) {
        rig::stage s;
        event events[2];
        std::string first;
        std::size_t others = 0;
        s.play(run_awaits(events, first, others));
        events[child_first ? 0 : 1].set();
        s.run();
        events[child_first ? 1 : 0].set();
        s.run();
        EXPECT_EQ(first, "std::runtime_error: 1");
        EXPECT_EQ(others, 0U) << "the same error is not kept twice";
    }
}

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
double keep_failures(std::size_t count) {
    rig::stage s;
    detail::scope_core& in = detail::task_access::core_of(s.root);
    std::vector<std::exception_ptr> errors;
    for (std::size_t i = 0; i < count; ++i) {
        errors.push_back(std::make_exception_ptr(i));
    }
    const double before = cpu_seconds();
    for (int twice = 0; twice < 2; ++twice) {
        for (const std::exception_ptr& e : errors) {
            in.keep(e);
        }
    }
    const std::vector<std::exception_ptr> others = in.take_other_failures().to_vector();
    const double took = cpu_seconds() - before;
    EXPECT_TRUE(std::equal(others.begin(), others.end(), errors.begin() + 1, errors.end())) << "each once, in order";
    return took;
}

TEST(scope_core, JOB_3_keeping_many_failures_takes_time_in_proportion) {
    bool is_linear = false;  // ten times as many: a hundred times the time if it were quadratic, in every attempt
    for (int attempt = 0; attempt < 5 && !is_linear; ++attempt) {
        const double few = keep_failures(2000);
        is_linear = keep_failures(20000) < 50 * few + 0.05;
    }
    EXPECT_TRUE(is_linear);
}

// The body has returned, and its child completes after the deadline: the result exists, and nothing was cut short.
task<> ends_late(rig::hand_timers& clock) {
    clock.skip(50ms);
    co_return;
}
task<int> leaves_child(scope& s, rig::hand_timers& clock) {
    s.launch("child", ends_late(clock));
    co_return 7;
}
task<> limited_late_child(rig::hand_timers& clock, std::string& log) {
    const auto got = co_await move_on_after(20ms, with_scope(leaves_child, std::ref(clock)));
    log += got ? "value" : "late";
}

TEST(scope_core, JOB_20_a_scope_whose_children_all_complete_late_has_its_value) {
    rig::stage s;
    std::string log;
    s.play(limited_late_child(s.executor.clock(), log));
    s.advance(1ms);
    EXPECT_EQ(log, "value");
}

}  // namespace
