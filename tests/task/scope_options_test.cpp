#include <roost/sync/event.hpp>
#include <roost/task/others_of.hpp>
#include <roost/task/scope.hpp>

#include "further.hpp"
#include "rig.hpp"

#include <stdexcept>
#include <string>

namespace {

using namespace roost;
using rig::stage;

task<> fail_with(std::string text) {
    throw std::runtime_error(text);
    co_return;
}
task<> count_after(event& e, int& count) {
    co_await e.wait();
    ++count;
}
task<int> several(scope& s, event& e, int& count, bool body_fails) {
    s.launch("a", fail_with("first"));
    s.launch("b", count_after(e, count));
    s.launch("c", fail_with("second"));
    if (body_fails) {
        throw std::logic_error("body");
    }
    co_return 4;
}
task<> run(event& e, int& count, bool body_fails, std::string& thrown, further::texts& others) {
    try {
        static_cast<void>(
            co_await with_scope(scope_options("collect").keep_going(), several, std::ref(e), std::ref(count), body_fails));
    } catch (const std::exception& x) {
        thrown = x.what();
        others = further::texts_of(others_of(std::current_exception()));
    }
}

TEST(scope_options, JOB_66_all_end_then_the_first_failure_is_thrown) {
    stage s;
    event e;
    int count = 0;
    std::string thrown;
    further::texts others;
    const job j = s.play(run(e, count, false, thrown, others));
    EXPECT_FALSE(j.is_finished()) << "a sibling goes on";
    e.set();
    s.run();
    EXPECT_EQ(count, 1);
    EXPECT_EQ(thrown, "first");
    EXPECT_EQ(others, further::texts{"second"});
    EXPECT_TRUE(j.others().empty()) << "they were caught with the first";
}

TEST(scope_options, JOB_66_the_body_is_one_of_them) {
    stage s;
    event e("e", true);
    int count = 0;
    std::string thrown;
    further::texts others;
    const job j = s.play(run(e, count, true, thrown, others));
    EXPECT_EQ(thrown, "body");
    EXPECT_EQ(count, 1);
    EXPECT_EQ(others, (further::texts{"first", "second"}));
    EXPECT_TRUE(j.others().empty()) << "they were caught with the first";
}

task<int> fine(scope& s, event& e, int& count) {
    s.launch("b", count_after(e, count));
    co_return 4;
}

TEST(scope_options, JOB_66_without_failures_the_value_and_cancel_reaches_all) {
    stage s;
    event e("e", true);
    int count = 0;
    int got = 0;
    const auto run_fine = [](event& x, int& y, int& z) -> task<> {
        z = co_await with_scope(scope_options("collect").keep_going(), fine, std::ref(x), std::ref(y));
    };
    s.play(run_fine(e, count, got));
    EXPECT_EQ(got, 4);
    EXPECT_EQ(count, 1);
    event never;
    const job j = s.play(run_fine(never, count, got));
    j.cancel();
    s.run();
    EXPECT_TRUE(j.is_finished());
    EXPECT_EQ(count, 1);
}

task<> fails_then_waits(scope& s, event& never, event& late) {
    s.launch("a", fail_with("first"));
    s.launch("b", further::fail_twice("second", "its cleanup"));
    s.launch("c", further::wait_with(late, "on the way"));
    co_await never.wait();
}

TEST(scope_options, JOB_81_a_failure_outranks_the_cancel_that_comes_after_it) {
    further::listener sink;
    event never;
    event late;
    stage s;
    const auto go = [](event& x, event& y) -> task<> {
        co_await with_scope(scope_options("collect").keep_going(), fails_then_waits, std::ref(x), std::ref(y));
    };
    const job j = s.play(go(never, late));
    EXPECT_FALSE(j.is_finished());
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::failed);
    EXPECT_EQ(sink.take(), (further::texts{"first", "second", "its cleanup", "on the way"})) << "as a root has them";
    EXPECT_EQ(further::texts_of(j.others()), (further::texts{"second", "its cleanup", "on the way"}));
}

task<> waits_then_cancelled(scope& s, event& never, job& child) {
    child = s.launch("a", fail_with("only on the way"));
    co_await never.wait();
}
TEST(scope_options, JOB_81_also_when_everything_else_has_ended) {
    further::listener sink;
    event never;
    stage s;
    job child;
    const auto go = [](event& x, job& y) -> task<> {
        co_await with_scope(scope_options("collect").keep_going(), waits_then_cancelled, std::ref(x), std::ref(y));
    };
    const job j = s.play(go(never, child));
    EXPECT_TRUE(child.is_finished());
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::failed);
    EXPECT_EQ(sink.take(), further::texts{"only on the way"});
}

task<> body_fails_twice(scope&) { co_await further::fail_twice("body", "its cleanup"); }

TEST(scope_options, JOB_83_what_the_body_fails_with_besides_is_kept) {
    further::listener sink;
    stage s;
    const auto go = []() -> task<> { co_await with_scope(scope_options("collect").keep_going(), body_fails_twice); };
    const job j = s.play(go());
    EXPECT_EQ(sink.take(), (further::texts{"body", "its cleanup"}));
    EXPECT_EQ(j.others().size(), 1U);
}

task<int&> give_back(scope&, int& value) { co_return value; }
task<> collect_reference(int& value, int*& got) {
    int& given = co_await with_scope(scope_options("collect").keep_going(), give_back, std::ref(value));
    got = &given;
}

TEST(scope_options, JOB_66_the_body_may_give_a_reference) {
    stage s;
    int value = 3;
    int* got = nullptr;
    s.play(collect_reference(value, got));
    EXPECT_EQ(got, &value);
}

}  // namespace
