#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/others_of.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>

#include "further.hpp"
#include "rig.hpp"

#include <algorithm>
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

// --- options together ------------------------------------------------------------------------------------------------

class crowd {
public:
    int running = 0;
    int most = 0;
    int ended = 0;
};
task<> member(crowd& c, event& go, bool fails) {
    c.most = std::max(c.most, ++c.running);
    co_await go.wait();
    --c.running;
    ++c.ended;
    if (fails) {
        throw std::runtime_error("one of many");
    }
}
task<> until(event& e) { co_await e.wait(); }
// Serves every scope: it knows nothing of the options.
task<int> many(scope& s, crowd& c, event& go, event& never, job& daemon) {
    daemon = s.daemon("daemon", until(never));
    for (int i = 0; i < 6; ++i) {
        s.launch("member", member(c, go, i == 1));
    }
    co_return 6;
}
task<> together(scope_options how, crowd& c, event& go, event& never, job& daemon, bool& failed) {
    const auto ended =
        co_await as_outcome(with_scope(how, many, std::ref(c), std::ref(go), std::ref(never), std::ref(daemon)));
    failed = ended.has_error();
}

TEST(scope_options, JOB_64_JOB_65_JOB_66_limit_daemon_and_keep_going_combine) {
    stage s;
    crowd c;
    event go;
    event never;
    job daemon;
    bool failed = false;
    s.play(together(scope_options("all").at_most(2).keep_going(), c, go, never, daemon, failed));
    EXPECT_EQ(c.running, 2) << "the daemon takes no slot";
    go.set();
    s.run();
    EXPECT_EQ(c.most, 2);
    EXPECT_EQ(c.ended, 6) << "one failed, and the others went on";
    EXPECT_EQ(daemon.state(), job_state::cancelled);
    EXPECT_TRUE(failed);
}

TEST(scope_options, JOB_64_JOB_65_a_limited_scope_fails_fast) {
    stage s;
    crowd c;
    event go;
    event never;
    job daemon;
    bool failed = false;
    s.play(together(scope_options("all").at_most(2), c, go, never, daemon, failed));
    go.set();
    s.run();
    EXPECT_LT(c.ended, 6) << "the failure cancelled those in the queue";
    EXPECT_EQ(daemon.state(), job_state::cancelled);
    EXPECT_TRUE(failed);
}

task<> fails_later(event& go) {
    co_await go.wait();
    throw std::runtime_error("daemon");
}
task<> with_failing_daemon(scope& s, crowd& c, event& go, event& never) {
    s.daemon("daemon", fails_later(go));
    s.launch("member", member(c, never, false));
    co_return;
}
task<> run_failing_daemon(scope_options how, crowd& c, event& go, event& never, bool& failed) {
    const auto ended = co_await as_outcome(with_scope(how, with_failing_daemon, std::ref(c), std::ref(go), std::ref(never)));
    failed = ended.has_error();
}

TEST(scope_options, JOB_64_the_failure_of_a_daemon_counts_as_a_childs) {
    for (const bool keeps_going : {false, true}) {
        stage s;
        crowd c;
        event go;
        event never;
        bool failed = false;
        const scope_options how("all");
        s.play(run_failing_daemon(keeps_going ? how.keep_going() : how, c, go, never, failed));
        go.set();
        s.run();
        EXPECT_EQ(failed, !keeps_going) << "a scope that keeps going waits for the others";
        never.set();
        s.run();
        EXPECT_TRUE(failed);
        EXPECT_EQ(c.ended, keeps_going ? 1 : 0);
    }
}

TEST(scope_options, JOB_29_JOB_64_an_owned_scope_reports_failures_and_ends_its_daemons) {
    stage s;
    crowd c;
    event go;
    event never;
    owned_scope jobs(s.executor, scope_options("jobs").at_most(1).report_failures());
    const job daemon = jobs.daemon("daemon", until(never));
    const job member_job = jobs.launch("member", member(c, go, false));
    jobs.request_close();
    s.run();
    EXPECT_FALSE(jobs.is_closed());
    go.set();
    s.run();
    EXPECT_TRUE(jobs.is_closed());
    EXPECT_EQ(daemon.state(), job_state::cancelled);
    EXPECT_EQ(member_job.state(), job_state::completed);
    EXPECT_FALSE(jobs.daemon("late", until(never))) << "refused, as launch() is";
}

}  // namespace
