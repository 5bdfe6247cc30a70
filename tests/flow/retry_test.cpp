#include <roost/flow/retry.hpp>
#include <roost/sync/event.hpp>

#include "../task/further.hpp"
#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<int> fail_until(int good, int& runs) {
    if (++runs < good) {
        throw std::runtime_error("attempt " + std::to_string(runs));
    }
    co_return runs;
}
task<> try_again(std::uint32_t attempts, int good, int& runs, int& got, std::string& what, std::size_t& others) {
    auto ended = co_await as_outcome(retry(backoff(10ms), attempts, fail_until, good, std::ref(runs)));
    others = ended.others().size();
    if (ended.has_value()) {
        got = ended.value();
        co_return;
    }
    try {
        std::rethrow_exception(ended.error());
    } catch (const std::runtime_error& e) {
        what = e.what();
    }
}

class bench {
public:
    rig::stage stage;
    int runs = 0;
    int got = 0;
    std::string what;
    std::size_t others = 0;
};

TEST(retry, JOB_43_tries_again_after_the_backoff_until_it_succeeds) {
    bench b;
    b.stage.play(try_again(5, 3, b.runs, b.got, b.what, b.others));
    EXPECT_EQ(b.runs, 1);
    b.stage.advance(10ms);
    EXPECT_EQ(b.runs, 2);
    b.stage.advance(20ms);
    EXPECT_EQ(b.got, 3);
}

TEST(retry, JOB_43_throws_the_last_failure_and_keeps_the_earlier_ones) {
    bench b;
    b.stage.play(try_again(3, 100, b.runs, b.got, b.what, b.others));
    b.stage.advance(10ms);
    b.stage.advance(20ms);
    EXPECT_EQ(b.runs, 3);
    EXPECT_EQ(b.what, "attempt 3");
    EXPECT_EQ(b.others, 2U);
}

TEST(retry, JOB_43_a_cancel_during_the_backoff_ends_it) {
    bench b;
    const job j = b.stage.play(try_again(3, 100, b.runs, b.got, b.what, b.others));
    j.cancel();
    b.stage.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(b.runs, 1);
}

bool is_transient(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::invalid_argument&) {
        return false;
    } catch (...) {
        return true;
    }
}
task<int> permanent(int& runs) {
    ++runs;
    throw std::invalid_argument("never right");
    co_return 0;
}
task<> try_permanent(int& runs, bool& caught) {
    try {
        co_await retry_if(&is_transient, backoff(10ms), 5, permanent, std::ref(runs));
    } catch (const std::invalid_argument&) {
        caught = true;
    }
}

TEST(retry, JOB_43_failures_that_are_not_worth_it_are_thrown_at_once) {
    rig::stage s;
    int runs = 0;
    bool caught = false;
    s.play(try_permanent(runs, caught));
    EXPECT_EQ(runs, 1);
    EXPECT_TRUE(caught);
}

task<> fail_twice_each_time(int& runs) {
    const std::string n = std::to_string(++runs);
    co_await further::fail_twice("attempt " + n, "cleanup " + n);
}
task<> try_twice(int& runs, further::texts& got) {
    auto ended = co_await as_outcome(retry(backoff(10ms), 2, fail_twice_each_time, std::ref(runs)));
    got = further::texts_of(ended.others());
    got.insert(got.begin(), further::text_of(ended.error()));
}

TEST(retry, JOB_83_what_else_the_attempts_failed_with_is_kept) {
    rig::stage s;
    int runs = 0;
    further::texts got;
    s.play(try_twice(runs, got));
    s.advance(10ms);
    EXPECT_EQ(got, (further::texts{"attempt 2", "attempt 1", "cleanup 1", "cleanup 2"}));
}

TEST(retry, JOB_84_a_failure_without_a_next_attempt_reaches_the_sink) {
    further::listener sink;
    rig::stage s;
    int runs = 0;
    further::texts got;
    const job j = s.play(try_twice(runs, got));
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(sink.take(), (further::texts{"attempt 1", "cleanup 1"}));
    bench b;
    b.stage.play(try_again(5, 2, b.runs, b.got, b.what, b.others));
    b.stage.advance(10ms);
    EXPECT_EQ(b.got, 2);
    EXPECT_EQ(sink.take(), further::texts()) << "the next attempt made it good";
}

bool broken_predicate(const std::exception_ptr&) { throw std::logic_error("predicate"); }
task<> try_broken(int& runs, further::texts& got) {
    auto ended = co_await as_outcome(retry_if(&broken_predicate, backoff(10ms), 5, fail_twice_each_time, std::ref(runs)));
    got = further::texts_of(ended.others());
    got.insert(got.begin(), further::text_of(ended.error()));
}

TEST(retry, JOB_84_a_predicate_that_throws_ends_it_with_the_failure_it_was_asked_about) {
    rig::stage s;
    int runs = 0;
    further::texts got;
    s.play(try_broken(runs, got));
    EXPECT_EQ(got, (further::texts{"attempt 1", "cleanup 1", "predicate"}));
}

TEST(retry, JOB_84_a_cancel_between_the_end_of_the_backoff_and_the_next_attempt_reaches_the_sink) {
    further::listener sink;
    rig::stage s;
    int runs = 0;
    further::texts got;
    const job j = s.play(try_twice(runs, got));
    s.executor.clock().advance(10ms);  // the wait is over, the body has not gone on yet
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(sink.take(), (further::texts{"attempt 1", "cleanup 1"}));
}

task<> fail_then_wait(int& runs, event& never) {
    if (++runs == 1) {
        throw std::runtime_error("attempt 1");
    }
    co_await never.wait();
}
task<> try_and_wait(int& runs, event& never) {
    co_await retry(backoff(10ms), 2, fail_then_wait, std::ref(runs), std::ref(never));
}

TEST(retry, JOB_84_an_attempt_that_has_begun_deals_with_the_failure_before) {
    further::listener sink;
    rig::stage s;
    int runs = 0;
    event never;
    const job j = s.play(try_and_wait(runs, never));
    s.advance(10ms);
    EXPECT_EQ(runs, 2);
    j.cancel();
    s.run();
    EXPECT_EQ(sink.take(), further::texts());
}

task<> fail_often(int& runs) {
    throw std::runtime_error(std::to_string(++runs));
    co_return;
}
task<> try_often(int& runs, further::texts& got) {
    auto ended = co_await as_outcome(retry(backoff(), 250, fail_often, std::ref(runs)));
    got = further::texts_of(ended.others());
    got.insert(got.begin(), further::text_of(ended.error()));
}

TEST(retry, JOB_43_of_many_attempts_the_first_hundred_failures_are_kept) {
    rig::stage s;
    int runs = 0;
    further::texts got;
    s.play(try_often(runs, got));
    EXPECT_EQ(runs, 250);
    ASSERT_EQ(got.size(), 101U);
    EXPECT_EQ(got[0], "250");
    EXPECT_EQ(got[1], "1");
    EXPECT_EQ(got[100], "100");
}

task<> try_often_and_stop(int& runs) { co_await retry(backoff(1ms).factor(1), 250, fail_often, std::ref(runs)); }

TEST(retry, JOB_84_the_last_failure_reaches_the_sink_also_when_it_is_not_one_of_those_kept) {
    further::listener sink;
    rig::stage s;
    int runs = 0;
    const job j = s.play(try_often_and_stop(runs));
    while (runs < 120) {
        s.advance(1ms);
    }
    j.cancel();
    s.run();
    EXPECT_EQ(sink.take(), further::texts{"120"});
}

}  // namespace
