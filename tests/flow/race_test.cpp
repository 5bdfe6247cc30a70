#include <roost/flow/race.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include "../task/further.hpp"
#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<int> value_after(duration d, int v, rig::tracked) {
    co_await sleep_for(d);
    co_return v;
}
task<int> error_after(duration d, const char* what) {
    co_await sleep_for(d);
    throw std::runtime_error(what);
}
task<int> cancelled_at_once(event& never) {
    const job me = co_await this_job();
    me.cancel(reason(reason_kind::requested, "withdrawn"));
    co_await never.wait();
    co_return 0;
}
task<int> at_once(int v) { co_return v; }
task<int> count_start(int& starts) {
    ++starts;
    co_return 0;
}

task<> race_two(int& alive, int& got) {
    auto first = co_await race(value_after(20ms, 1, rig::tracked(alive)), value_after(10ms, 2, rig::tracked(alive)));
    EXPECT_EQ(alive, 0) << "the loser is cancelled and awaited";
    EXPECT_EQ(first.index(), 1U);
    got = first.value();
}

TEST(race, JOB_41_the_first_to_end_wins_and_the_losers_are_cancelled_and_awaited) {
    rig::stage s;
    int alive = 0;
    int got = 0;
    s.play(race_two(alive, got));
    s.advance(10ms);
    EXPECT_EQ(got, 2);
}

TEST(race, JOB_41_cancelling_the_awaiting_job_ends_all) {
    rig::stage s;
    int alive = 0;
    int got = 0;
    const job j = s.play(race_two(alive, got));
    EXPECT_GT(alive, 0);
    j.cancel();
    s.run();
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> error_wins(int& alive, std::string& what) {
    try {
        auto first = co_await race(value_after(20ms, 1, rig::tracked(alive)), error_after(10ms, "broken"));
    } catch (const std::runtime_error& e) {
        what = e.what();
    }
}

TEST(race, JOB_41_an_error_may_win) {
    rig::stage s;
    int alive = 0;
    std::string what;
    s.play(error_wins(alive, what));
    s.advance(10ms);
    EXPECT_EQ(what, "broken");
    EXPECT_EQ(alive, 0);
}

task<> all_fail(std::string& what, further::texts& others) {
    auto ended = co_await as_outcome(race(error_after(1ms, "one"), error_after(1ms, "two")));
    try {
        std::rethrow_exception(ended.error());
    } catch (const std::runtime_error& e) {
        what = e.what();
    }
    others = further::texts_of(ended.others());
}

TEST(race, JOB_41_a_race_in_which_every_alternative_fails_is_an_error) {
    rig::stage s;
    std::string what;
    further::texts others;
    const job j = s.play(all_fail(what, others));
    s.advance(1ms);
    EXPECT_TRUE(j.is_finished());
    EXPECT_EQ(what, "one");
    EXPECT_EQ(others, further::texts{"two"});
}

task<> ready_first(int& starts, int& got) {
    auto first = co_await race(at_once(5), count_start(starts), count_start(starts));
    EXPECT_EQ(first.index(), 0U);
    EXPECT_TRUE(first.others().empty());
    got = first.value();
}

TEST(race, JOB_41_when_the_first_is_ready_at_once_the_others_never_start) {
    rig::stage s;
    int starts = 0;
    int got = 0;
    const job j = s.play(ready_first(starts, got));
    EXPECT_EQ(got, 5);
    EXPECT_EQ(starts, 0);
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> cancelled_cannot_win(event& never, int& alive, int& got) {
    auto first = co_await race(cancelled_at_once(never), value_after(5ms, 8, rig::tracked(alive)));
    got = first.value();
}
task<> all_cancelled(event& never) { auto first = co_await race(cancelled_at_once(never), cancelled_at_once(never)); }

TEST(race, JOB_41_a_cancelled_alternative_can_not_win) {
    rig::stage s;
    event never;
    int alive = 0;
    int got = 0;
    s.play(cancelled_cannot_win(never, alive, got));
    EXPECT_EQ(got, 0);
    s.advance(5ms);
    EXPECT_EQ(got, 8);
    const job j = s.play(all_cancelled(never));
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().text(), "withdrawn");
}

task<> of_nothing(errc& kind, std::string& text) {
    try {
        auto first = co_await race(std::vector<task<int>>());
    } catch (const error& e) {
        kind = e.kind();
        text = e.what();
    }
}

TEST(race, JOB_41_over_nothing_is_the_error_empty_set) {
    rig::stage s;
    errc kind = errc::closed;
    std::string text;
    s.play(of_nothing(kind, text));
    EXPECT_EQ(kind, errc::empty_set);
    EXPECT_EQ(text.find("race(): the vector is empty; pass at least one task"), 0U) << text;
}

task<std::string> text_after(duration d) {
    co_await sleep_for(d);
    co_return "text";
}
task<> mixed(std::string& got) {
    auto first = co_await race(at_once(1), text_after(1ms));
    EXPECT_EQ(first.value().index(), 0U);
    auto second = co_await race(error_after(5ms, "late"), text_after(1ms));
    got = std::get<1>(second.value());
}

TEST(race, JOB_41_different_results_make_a_variant) {
    rig::stage s;
    std::string got;
    s.play(mixed(got));
    s.advance(1ms);
    EXPECT_EQ(got, "text");
}

task<> succeed(int& alive, int& got, std::size_t& failed) {
    auto first = co_await first_success(error_after(1ms, "a"), value_after(3ms, 4, rig::tracked(alive)),
                                        error_after(2ms, "b"), value_after(9ms, 5, rig::tracked(alive)));
    got = first.value();
    failed = first.others().size();
}

TEST(race, JOB_42_first_success_passes_over_errors) {
    rig::stage s;
    int alive = 0;
    int got = 0;
    std::size_t failed = 0;
    s.play(succeed(alive, got, failed));
    s.advance(3ms);
    EXPECT_EQ(got, 4);
    EXPECT_EQ(failed, 2U);
    EXPECT_EQ(alive, 0);
}

task<> none_succeeds(std::size_t& count, std::string& text) {
    std::vector<task<int>> all;
    all.push_back(error_after(2ms, "b"));
    all.push_back(error_after(1ms, "a"));
    try {
        auto first = co_await first_success(std::move(all));
    } catch (const all_failed& e) {
        count = e.errors().size();
        text = e.what();
    }
}

TEST(race, JOB_42_if_no_alternative_succeeds_all_errors_are_in_one) {
    rig::stage s;
    std::size_t count = 0;
    std::string text;
    s.play(none_succeeds(count, text));
    s.advance(2ms);
    EXPECT_EQ(count, 2U);
    EXPECT_LT(text.find("runtime_error: a"), text.find("runtime_error: b"));
}

task<int> fail_twice_after(duration d, const char* first, const char* second) {
    co_await on_exit(further::cleanup_fails, std::string(second));
    co_await sleep_for(d);
    throw std::runtime_error(first);
}
task<int> later(duration d) {
    co_await sleep_for(d);
    co_return 1;
}
task<> errors_with_others(bool success, further::texts& got) {
    auto ended = co_await as_outcome(race(fail_twice_after(1ms, "one", "one's"), fail_twice_after(1ms, "two", "two's")));
    got = further::texts_of(ended.others());
    task<int> second = success ? later(3ms) : fail_twice_after(1ms, "four", "four's");
    try {
        auto best = co_await first_success(fail_twice_after(2ms, "three", "three's"), std::move(second));
        for (const std::string& text : further::texts_of(best.others())) {
            got.push_back(text);
        }
    } catch (const all_failed& all) {
        for (const std::string& text : further::texts_of(all.errors())) {
            got.push_back(text);
        }
    }
}

TEST(race, JOB_83_what_else_an_alternative_failed_with_is_kept) {
    rig::stage s;
    further::texts got;
    s.play(errors_with_others(true, got));
    s.advance(1ms);
    s.advance(2ms);
    s.advance(1ms);
    EXPECT_EQ(got, (further::texts{"one's", "two", "two's", "three", "three's"}));
    s.play(errors_with_others(false, got));
    s.advance(1ms);
    s.advance(1ms);
    s.advance(1ms);
    EXPECT_EQ(got, (further::texts{"one's", "two", "two's", "four", "four's", "three", "three's"}));
}

task<int> value_with_cleanup(const char* text) {
    co_await sleep_for(2ms);
    co_await on_exit(further::cleanup_fails, std::string(text));
    co_return 1;
}
task<> winner_with_cleanup() {
    auto best = co_await first_success(fail_twice_after(1ms, "loser", "loser's"), value_with_cleanup("winner's"));
    static_cast<void>(best);
}

TEST(race, JOB_87_errors_of_losers_are_kept_when_the_winner_s_cleanup_fails) {
    further::listener sink;
    rig::stage s;
    const job j = s.play(winner_with_cleanup());
    s.advance(1ms);
    s.advance(1ms);
    EXPECT_EQ(j.state(), job_state::failed);
    EXPECT_EQ(sink.take(), (further::texts{"winner's", "loser", "loser's"}));
}

}  // namespace
