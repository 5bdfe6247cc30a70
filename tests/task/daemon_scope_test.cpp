#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include "further.hpp"
#include "rig.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace roost;
using rig::stage;
using log = std::vector<std::string>;

class at_end {
public:
    at_end(log& out, std::string text) : out_(&out), text_(std::move(text)) {}
    at_end(const at_end&) = delete;
    at_end& operator=(const at_end&) = delete;
    ~at_end() { out_->push_back(text_); }

private:
    log* out_;
    std::string text_;
};

task<> forever(log& out, event& never) {
    const at_end mark(out, "service ended");
    co_await never.wait();
}
task<> wait_for(log& out, event& e) {
    const at_end mark(out, "child ended");
    co_await e.wait();
}

task<int> serves(scope& s, log& out, event& never, event& go, job& service) {
    service = s.daemon("service", forever(out, never));
    s.launch("child", wait_for(out, go));
    co_return 7;
}
task<> run(log& out, event& never, event& go, job& service, int& got) {
    got = co_await with_scope(serves, std::ref(out), std::ref(never), std::ref(go), std::ref(service));
    out.emplace_back("scope ended");
}

TEST(daemon_scope, JOB_64_live_until_body_and_children_have_ended) {
    stage s;
    log out;
    event never;
    event go;
    job service;
    int got = 0;
    s.play(run(out, never, go, service, got));
    EXPECT_FALSE(service.is_finished()) << "the body has returned, a child has not";
    go.set();
    s.run();
    EXPECT_EQ(got, 7);
    EXPECT_EQ(service.state(), job_state::cancelled);
    EXPECT_EQ(service.why().kind(), reason_kind::closed);
    EXPECT_EQ(out, (log{"child ended", "service ended", "scope ended"}));
}

task<> fails() {
    throw std::runtime_error("service");
    co_return;
}
task<> with_failing(scope& s, log& out, event& never) {
    s.launch("child", wait_for(out, never));
    s.daemon("service", fails());
    co_await never.wait();
}
task<> run_failing(log& out, event& never, bool& threw) {
    try {
        co_await with_scope(with_failing, std::ref(out), std::ref(never));
    } catch (const std::runtime_error&) {
        threw = true;
    }
}

TEST(daemon_scope, JOB_64_a_failing_service_takes_the_scope_down) {
    stage s;
    log out;
    event never;
    bool threw = false;
    s.play(run_failing(out, never, threw));
    EXPECT_TRUE(threw);
    EXPECT_EQ(out, log{"child ended"});
}

task<> body_throws(scope& s, log& out, event& never) {
    s.daemon("service", forever(out, never));
    co_await yield();
    throw std::logic_error("body");
}
task<> many_short(scope& s, log& out) {
    event set("set", true);
    for (int i = 0; i < 100; ++i) {
        s.daemon("short", wait_for(out, set));
        co_await yield();
    }
}

TEST(daemon_scope, JOB_64_services_go_with_a_failing_body_and_may_end_early) {
    stage s;
    log out;
    event never;
    bool threw = false;
    const auto run_throwing = [](log& o, event& e, bool& t) -> task<> {
        try {
            co_await with_scope(body_throws, std::ref(o), std::ref(e));
        } catch (const std::logic_error&) {
            t = true;
        }
    };
    s.play(run_throwing(out, never, threw));
    EXPECT_TRUE(threw);
    EXPECT_EQ(out, log{"service ended"});
    out.clear();
    const auto run_short = [](log& o) -> task<> { co_await with_scope(many_short, std::ref(o)); };
    s.play(run_short(out));
    EXPECT_EQ(out.size(), 100U);
}

task<> launch_later(scope& s, event& e, log& out, event& never) {
    co_await e.wait();
    s.daemon("late service", forever(out, never));
    co_await s.async("late child", wait_for(out, e));
}
task<> return_at_once(scope& s, event& e, log& out, event& never) {
    s.launch("child", launch_later(s, e, out, never));
    co_return;
}

TEST(daemon_scope, JOB_80_children_may_use_the_scope_when_the_body_has_returned) {
    stage s;
    log out;
    event e;
    event never;
    event scribbled;
    const auto go = [](event& x, log& y, event& z) -> task<> {
        co_await with_scope(return_at_once, std::ref(x), std::ref(y), std::ref(z));
    };
    const job j = s.play(go(e, out, never));
    further::scribble_over(s, scribbled);
    e.set();
    s.run();
    EXPECT_EQ(out, (log{"child ended", "service ended"}));
    EXPECT_EQ(j.state(), job_state::completed);
    scribbled.set();
    s.run();
}

class late {
public:
    event scribbled;
    event go;
    bool refused = false;
    job served;
    log out;
};
task<> start_late(scope& s, late& l, event& never) {
    co_await l.go.wait();
    l.refused = !s.launch("late child", wait_for(l.out, never));
    l.served = s.daemon("late service", forever(l.out, never));
}
task<> clean_up_late(scope& s, late& l, event& never) {
    co_await on_exit(start_late, std::ref(s), std::ref(l), std::ref(never));
    co_await never.wait();
}
task<> with_late(scope& s, late& l, event& never) {
    s.daemon("service", clean_up_late(s, l, never));
    co_await yield();
}

TEST(daemon_scope, JOB_80_a_daemon_that_is_the_last_is_refused_and_can_keep_nothing_alive) {
    stage s;
    late l;
    event never;
    const auto go = [](late& x, event& y) -> task<> { co_await with_scope(with_late, std::ref(x), std::ref(y)); };
    const job j = s.play(go(l, never));
    EXPECT_FALSE(j.is_finished()) << "the service cleans up";
    further::scribble_over(s, l.scribbled);
    l.go.set();
    s.run();
    EXPECT_TRUE(l.refused);
    EXPECT_EQ(l.served.state(), job_state::cancelled);
    EXPECT_EQ(l.served.why().kind(), reason_kind::closed);
    EXPECT_EQ(l.out, log());
    EXPECT_EQ(j.state(), job_state::completed);
    l.scribbled.set();
    s.run();
}

task<int&> give_back(scope&, int& value) { co_return value; }
task<> serve_reference(int& value, int*& got) {
    int& given = co_await with_scope(give_back, std::ref(value));
    got = &given;
}

TEST(daemon_scope, JOB_64_the_body_may_give_a_reference) {
    stage s;
    int value = 3;
    int* got = nullptr;
    s.play(serve_reference(value, got));
    EXPECT_EQ(got, &value);
}

// Its result looks at the scope it was made in when it goes.
class asks_when_gone {
public:
    explicit asks_when_gone(scope& s, event& never, int& gone) : s_(&s), never_(&never), gone_(&gone) {}
    asks_when_gone(asks_when_gone&& other) noexcept
        : s_(std::exchange(other.s_, nullptr)), never_(other.never_), gone_(other.gone_) {}
    asks_when_gone& operator=(const asks_when_gone&) = delete;
    ~asks_when_gone() {
        if (s_ != nullptr) {
            ++*gone_;
            s_->daemon("from a destructor", wait_until(*never_));
        }
    }

private:
    static task<> wait_until(event& e) { co_await e.wait(); }
    scope* s_;
    event* never_;
    int* gone_;
};
task<asks_when_gone> make_one(scope& s, event& never, int& gone) { co_return asks_when_gone(s, never, gone); }
task<> serve_many(scope& s, event& never, int& gone) {
    for (int i = 0; i < 40; ++i) {
        s.daemon("short", make_one(s, never, gone));
        co_await yield();
    }
}
task<> run_many(event& never, int& gone) { co_await with_scope(serve_many, std::ref(never), std::ref(gone)); }

TEST(daemon_scope, JOB_64_results_of_services_that_have_ended_go_outside_every_lock) {
    stage s;
    event never;
    int gone = 0;
    const job j = s.play(run_many(never, gone));
    EXPECT_TRUE(j.is_finished());
    EXPECT_EQ(gone, 40);
}

TEST(daemon_scope, JOB_64_a_cancel_of_an_owned_scope_reaches_its_daemons) {
    for (const bool by_node : {false, true}) {
        stage s;
        log out;
        event never;
        owned_scope own(s.executor, "own");
        const job daemon = own.daemon("heartbeat", forever(out, never));
        const job child = own.launch("child", wait_for(out, never));
        s.run();
        EXPECT_NE(own.to_string().find("'heartbeat'"), std::string::npos) << own.to_string();
        if (by_node) {
            own.tree_node().cancel(reason(reason_kind::requested, "enough"));
        } else {
            own.cancel(reason(reason_kind::requested, "enough"));
        }
        s.run();
        EXPECT_EQ(child.state(), job_state::cancelled);
        EXPECT_EQ(daemon.state(), job_state::cancelled);
        EXPECT_EQ(daemon.why().text(), "enough");
        const job late = own.daemon("late", forever(out, never));
        s.run();
        EXPECT_EQ(late.state(), job_state::cancelled);
        own.request_close();
        s.run();
        EXPECT_TRUE(own.is_closed());
    }
}

TEST(daemon_scope, JOB_64_the_first_daemon_of_a_cancelled_owned_scope_does_not_run) {
    stage s;
    log out;
    event never;
    owned_scope own(s.executor, "own");
    own.cancel();
    const job daemon = own.daemon("heartbeat", forever(out, never));
    s.run();
    EXPECT_EQ(daemon.state(), job_state::cancelled);
    EXPECT_TRUE(out.empty());
    own.request_close();
    s.run();
    EXPECT_TRUE(own.is_closed());
}

}  // namespace
