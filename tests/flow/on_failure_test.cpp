// supervise(): nothing that failed beside something else is lost, and the supervisor lives as long as its children.
#include <roost/flow/on_failure.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/this_task.hpp>

#include "../task/further.hpp"
#include "../task/rig.hpp"

#include <optional>

using namespace roost;
using namespace std::chrono_literals;

namespace {

using further::texts;
using further::texts_of;

task<> count_one(int& count) {
    ++count;
    co_return;
}
task<> launch_later(supervisor& s, event& e, int& count) {
    co_await e.wait();
    s.launch("late", count_one, std::ref(count));
}
task<> return_at_once(supervisor& s, event& e, int& count) {
    s.launch("child", launch_later, std::ref(s), std::ref(e), std::ref(count));
    co_return;
}
task<> run_return_at_once(event& e, int& count, std::size_t& started) {
    auto ended = co_await supervise(on_failure::escalate(), return_at_once, std::ref(e), std::ref(count));
    started = ended.counts().started;
}

TEST(supervise, JOB_80_children_may_use_the_supervisor_when_the_body_has_returned) {
    rig::stage s;
    event e;
    event scribbled;
    int count = 0;
    std::size_t started = 0;
    const job j = s.play(run_return_at_once(e, count, started));
    further::scribble_over(s, scribbled);
    e.set();
    s.run();
    EXPECT_EQ(count, 1);
    EXPECT_EQ(started, 2U);
    EXPECT_EQ(j.state(), job_state::completed);
    scribbled.set();
    s.run();
}

task<> throw_after(event& e) {
    co_await e.wait();
    throw std::runtime_error("child");
}
task<> throw_in_shield(event& e) { co_await shield(1h, throw_after(e)); }
task<> body_fails(supervisor& s, event& e) {
    s.launch("child", throw_in_shield, std::ref(e));
    co_await yield();
    co_await further::fail_twice("body", "the body's cleanup");
}
task<> run_body_fails(on_failure what, event& e) {
    const auto ended = co_await supervise(std::move(what), body_fails, std::ref(e));
    try {
        static_cast<void>(ended.value());
    } catch (const std::runtime_error&) {}
}

TEST(supervise, JOB_82_a_body_that_failed_is_kept_beside_what_escalates) {
    further::listener sink;
    rig::stage s;
    event e;
    const job j = s.play(run_body_fails(on_failure::escalate(), e));
    EXPECT_FALSE(j.is_finished()) << "the child holds on, in its shield";
    e.set();
    s.run();
    EXPECT_EQ(j.state(), job_state::failed);
    EXPECT_EQ(sink.take(), (texts{"child", "body", "the body's cleanup"}));
}

TEST(supervise, JOB_82_value_throws_one_error_and_the_sink_hears_of_the_others) {
    further::listener sink;
    rig::stage s;
    event e;
    const job j = s.play(run_body_fails(on_failure::ignore(), e));
    e.set();
    s.run();
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_EQ(sink.take(), texts{"the body's cleanup"});
}

task<> fail_first_time(int& runs) {
    if (++runs == 1) {
        co_await further::fail_twice("attempt", "its cleanup");
    }
}
task<> one_child(supervisor& s, int& runs, job& child) {
    child = s.launch("child", fail_first_time, std::ref(runs));
    co_return;
}
class bench {
public:
    int runs = 0;
    job child;
    std::optional<supervised<void>> got;
};
task<> run_one_child(bench& b, on_failure what) {
    b.got.emplace(co_await supervise(std::move(what), one_child, std::ref(b.runs), std::ref(b.child)));
}

TEST(supervise, JOB_83_what_else_an_attempt_failed_with_shares_its_fate) {
    further::listener sink;
    for (const on_failure& what : {on_failure::ignore(), on_failure::restart(backoff(), 1)}) {
        rig::stage s;
        bench b;
        s.play(run_one_child(b, what));
        ASSERT_TRUE(b.got);
        ASSERT_EQ(b.got->failures().size(), 1U);
        EXPECT_EQ(texts_of(b.got->failures()[0].others()), texts{"its cleanup"});
        EXPECT_EQ(b.got->counts().failures, 1U);
        const bool restarted = b.runs == 2;
        EXPECT_EQ(texts_of(b.child.others()), restarted ? texts() : texts{"its cleanup"}) << "as of any job that failed";
    }
    EXPECT_EQ(sink.take(), texts()) << "it was decided about";

    rig::stage s;
    bench b;
    const job j = s.play(run_one_child(b, on_failure::escalate()));
    EXPECT_FALSE(b.got);
    EXPECT_EQ(sink.take(), (texts{"attempt", "its cleanup"}));
    EXPECT_EQ(texts_of(j.others()), texts{"its cleanup"});
}

TEST(supervise, JOB_83_a_handler_receives_all_failures_and_what_it_throws_comes_last) {
    further::listener sink;
    rig::stage s;
    bench b;
    std::size_t received = 0;
    const auto broken = [&received](const child_failure& f) -> on_failure {
        received = f.others().size();
        throw std::logic_error("handler");
    };
    s.play(run_one_child(b, on_failure::ask(broken)));
    EXPECT_EQ(received, 1U);
    EXPECT_EQ(sink.take(), (texts{"attempt", "its cleanup", "handler"}));
}

task<> one_returns(supervisor& s, bool another_fails) {
    s.launch("returns", further::return_with, std::string("cleanup"));
    if (another_fails) {
        s.launch("fails", further::cleanup_fails, std::string("failure"));
    }
    co_return;
}
task<> run_one_returns(bool another_fails, std::optional<supervised<void>>& got) {
    got.emplace(co_await supervise(on_failure::escalate(), one_returns, another_fails));
}

TEST(supervise, JOB_83_a_cleanup_that_fails_alone_is_in_the_result_or_reaches_the_sink) {
    further::listener sink;
    rig::stage s;
    std::optional<supervised<void>> got;
    s.play(run_one_returns(false, got));
    ASSERT_TRUE(got);
    ASSERT_EQ(got->failures().size(), 1U);
    EXPECT_EQ(got->failures()[0].attempt(), 0U);
    EXPECT_EQ(got->failures()[0].others().size(), 0U);
    EXPECT_EQ(sink.take(), texts());
    got.reset();
    s.play(run_one_returns(true, got));
    EXPECT_FALSE(got);
    EXPECT_EQ(sink.take(), (texts{"cleanup", "failure"})) << "no result, so no code would find it";
}

}  // namespace
