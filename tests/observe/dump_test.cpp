#include <roost/observe/dump.hpp>

#include <roost/exec/detail/recent_time.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/shutdown/detail/report_of.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/tree/visit.hpp>

#include "../task/rig.hpp"

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;
using rig::stage;

task<> wait_for(event& e) { co_await e.wait(); }

TEST(dump, JOB_51_shows_name_site_state_and_children) {
    stage s;
    event go("go");
    const job waits = s.play(wait_for(go), "reader");
    const std::string text = dump(s.root);
    EXPECT_NE(text.find("owned scope 'root'"), std::string::npos) << text;
    EXPECT_NE(text.find("rig.hpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("1 child"), std::string::npos) << text;
    EXPECT_NE(text.find("\n  job 'reader'"), std::string::npos) << text;
    EXPECT_NE(dump(waits).find("job 'reader'"), std::string::npos);
    EXPECT_EQ(dump(job()), "");
    go.set();
}

task<> hold(mutex& m, event& e) {
    auto mine = co_await m.lock();
    co_await e.wait();
}

class foreign {
public:
    explicit foreign(std::coroutine_handle<>& out) : out_(&out) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const noexcept { *out_ = h; }
    void await_resume() const noexcept {}

private:
    std::coroutine_handle<>* out_;
};
task<> wait_foreign(std::coroutine_handle<>& h) { co_await foreign(h); }

task<> wait_scope(scope& s, event& e) {
    s.launch("inner", wait_for(e));
    co_return;
}

TEST(dump, JOB_51_says_what_a_job_waits_on) {
    stage s;
    event go("go");
    mutex accounts("accounts");
    std::coroutine_handle<> outside;
    auto target = s.root.async("made", wait_for(go));
    s.play(hold(accounts, go), "holder");
    s.play(hold(accounts, go), "queued");
    s.play(wait_foreign(outside), "bridge");
    s.play([](deferred<> d) -> task<> { co_await std::move(d); }(std::move(target)), "getter");
    s.play([](event& e) -> task<> { co_await fail_after(90s, wait_for(e)); }(go), "limited");
    s.play([](event& e) -> task<> { co_await with_scope(wait_scope, std::ref(e)); }(go), "outer");
    s.play([]() -> task<> { co_await sleep_for(1s); }(), "sleeper");
    const std::string text = dump(s.root);
    const auto line_of = [&](std::string_view name) {
        const std::size_t at = text.find("'" + std::string(name) + "'");
        const std::size_t begin = text.rfind('\n', at) + 1;
        return text.substr(begin, text.find('\n', at) - begin);
    };
    EXPECT_NE(line_of("holder").find("waits on event 'go'"), std::string::npos) << text;
    EXPECT_NE(line_of("queued").find("waits on mutex 'accounts'"), std::string::npos) << text;
    EXPECT_NE(line_of("bridge").find("waits on foreign awaitable, uninterruptible"), std::string::npos) << text;
    EXPECT_NE(line_of("getter").find("waits on job 'made'"), std::string::npos) << text;
    EXPECT_NE(line_of("deadline").find("waits on event 'go', deadline in 90 s"), std::string::npos) << text;
    EXPECT_NE(line_of("inner").find("waits on event 'go'"), std::string::npos) << text;
    EXPECT_NE(line_of("sleeper").find("waits on sleep"), std::string::npos) << text;
    go.set();
    outside.resume();
    s.run();
    s.advance(1s);
}

TEST(dump, JOB_51_says_why_and_how_old) {
    stage s;
    detail::recent_time::tell(now() - 100s);
    std::coroutine_handle<> outside;
    const job j = s.play(wait_foreign(outside), "stuck");
    detail::recent_time::rest();
    j.cancel(reason(reason_kind::requested, "maintenance"));
    const std::string text = dump(s.root);
    EXPECT_NE(text.find("job 'stuck'"), std::string::npos) << text;
    EXPECT_NE(text.find("cancelling (requested: maintenance"), std::string::npos) << text;
    EXPECT_NE(text.find("age 10"), std::string::npos) << text;  // a slow machine has ten seconds
    outside.resume();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> one_supervised(supervisor& s, event& e) {
    s.launch("fed", wait_for, std::ref(e));
    co_return;
}

TEST(dump, JOB_68_combinators_say_where_they_were_written) {
    stage s;
    event go("go");
    s.play([](event& e) -> task<> { static_cast<void>(co_await race(wait_for(e), wait_for(e))); }(go));
    s.play([](event& e) -> task<> { co_await when_all(wait_for(e), wait_for(e)); }(go));
    s.play([](event& e) -> task<> {
        static_cast<void>(co_await supervise(on_failure::ignore(), one_supervised, std::ref(e)));
    }(go));
    const std::string text = dump(s.root);
    std::string here = site::here().to_string();
    here.resize(here.rfind(':') + 1);
    EXPECT_NE(text.find("scope 'race' (" + here), std::string::npos) << text;
    EXPECT_NE(text.find("2 x job 'alternative' (" + here), std::string::npos) << text;
    EXPECT_NE(text.find("scope 'when_all' (" + here), std::string::npos) << text;
    EXPECT_NE(text.find("2 x job 'one of all' (" + here), std::string::npos) << text;
    EXPECT_NE(text.find("scope 'supervise' (" + here), std::string::npos) << text;
    EXPECT_NE(text.find("job 'fed' (" + here), std::string::npos) << text;
    go.set();
    s.run();
}

task<> hold_limited(scope& s, event& e) {
    s.launch("one of few", wait_for(e));
    co_return;
}
task<> run_limited(event& e) { co_await with_scope(scope_options("limited scope").at_most(2), hold_limited, std::ref(e)); }

TEST(dump, JOB_68_a_limited_scope_says_where_it_was_written) {
    stage s;
    event go("go");
    s.play(run_limited(go));
    const std::string text = dump(s.root);
    std::string here = site::here().to_string();
    here.resize(here.rfind(':') + 1);
    EXPECT_NE(text.find("scope 'limited scope' (" + here), std::string::npos) << text;
    go.set();
    s.run();
}

TEST(dump, JOB_52_siblings_that_look_the_same_are_one_line) {
    stage s;
    event go("go");
    for (int i = 0; i < 97; ++i) {
        s.start(wait_for(go), "same");
    }
    s.start(wait_for(go), "other");
    s.run();
    const std::string text = dump(s.root);
    EXPECT_NE(text.find("  97 x job 'same'"), std::string::npos) << text;
    EXPECT_NE(text.find("  job 'other'"), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
    const std::string all = dump(s.root, dump_options().ungrouped());
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 99);
    go.set();
}

TEST(dump, JOB_53_the_text_is_bounded_and_says_what_is_missing) {
    stage s;
    event go("go");
    std::vector<std::string> names;
    for (int i = 0; i < 500; ++i) {
        s.start(wait_for(go), ("worker " + std::to_string(i)).c_str());
    }
    s.run();
    const std::string few = dump(s.root, dump_options().bytes(2000));
    EXPECT_LE(few.size(), 2000U);
    EXPECT_NE(few.find("cut at 2000 bytes"), std::string::npos) << few;
    const std::string some = dump(s.root, dump_options().nodes(10));
    EXPECT_NE(some.find("only 10 were visited"), std::string::npos) << some;
    const std::string flat = dump(s.root, dump_options().depth(0));
    EXPECT_NE(flat.find("500 more below depth 0"), std::string::npos) << flat;
    EXPECT_LE(dump(s.root, dump_options().bytes(10)).size(), 10U);
    go.set();
}

task<> nothing_to_do() { co_return; }
task<> holds_a_kept_group(event& e) {
    co_await when_all(nothing_to_do(), nothing_to_do());
    co_await e.wait();
}
task<> two_with_kept_groups(event& e) { co_await when_all(holds_a_kept_group(e), holds_a_kept_group(e)); }
task<> look_at_kept(const shutdown& server, event& go, std::size_t& counted, std::string& report) {
    co_await yield();
    co_await yield();
    counted = server.guard_count();
    report = server.report().to_string();
    go.set();
}
TEST(dump, SHUT_116_jobs_kept_for_reuse_are_not_work) {
    runtime rt(runtime_options().workers(1));  // whose queue lets a group run its children in place, and keep it
    event go("go");
    const shutdown server("server");
    owned_scope jobs(server.tree_node(), rt, "jobs");
    std::size_t counted = 0;
    std::string report;
    jobs.launch("outer", two_with_kept_groups(go));
    jobs.launch("look", look_at_kept(server, go, counted, report));
    jobs.close_blocking();
    EXPECT_EQ(counted, 4U) << report;  // outer, its two children, look
    EXPECT_NE(report.find("2 jobs 'one of all'"), std::string::npos) << report;
    EXPECT_NE(report.find("3 jobs outstanding"), std::string::npos) << report;  // 'outer' only waits for its children
    EXPECT_EQ(server.guard_count(), 0U);
}

// One node, in the three texts that show nodes.
TEST(dump, OBS_3_every_text_names_a_node_in_the_same_way) {
    rig::stage s;
    event go("go");
    const job reader = s.play(wait_for(go), "reader");
    const std::string subject = "job 'reader' (" + reader.site().to_string() + ")";
    const std::string tree = tree_to_string(s.root.tree_node());
    EXPECT_NE(dump(s.root).find(subject + ", active"), std::string::npos) << dump(s.root);
    EXPECT_NE(tree.find(subject + ", active"), std::string::npos) << tree;
    EXPECT_NE(tree.find(", waits on event 'go'"), std::string::npos) << tree;
    const std::string report = detail::report_of(detail::task_access::core_of(s.root)).to_string();
    EXPECT_NE(report.find("1 " + subject), std::string::npos) << report;
    EXPECT_NE(report.find(", waits on event 'go'"), std::string::npos) << report;
    go.set();
}

}  // namespace
