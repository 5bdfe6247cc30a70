#include <roost/flow/select.hpp>

#include <roost/observe/job_events.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "../task/rig.hpp"

#include <memory>
#include <vector>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;
using rig::stage;

using seen = std::vector<int>;

task<> receive_or_stop(channel<int>& c, event& stop, seen& out) {
    auto got = co_await select(c.receive(), stop.wait());
    if (got.index() == 0) {
        out.push_back(*got.get<0>());
    } else {
        out.push_back(-1);
    }
}

TEST(select, JOB_54_the_first_clause_that_can_happen_happens) {
    stage s;
    channel<int> c(1, "orders");
    event stop("stop");
    seen out;
    ASSERT_TRUE(c.try_send(7));
    s.play(receive_or_stop(c, stop, out));
    EXPECT_EQ(out, seen{7});  // at once
    const job waits = s.play(receive_or_stop(c, stop, out));
    EXPECT_FALSE(waits.is_finished());
    ASSERT_TRUE(c.try_send(8));
    s.run();
    EXPECT_EQ(out, (seen{7, 8}));  // woken
    s.play(receive_or_stop(c, stop, out));
    stop.set();
    s.run();
    EXPECT_EQ(out, (seen{7, 8, -1}));
    EXPECT_EQ(c.receivers_now() + stop.waiters_now(), 0U);
}

TEST(select, JOB_55_losers_leave_no_trace) {
    stage s;
    channel<int> a(1);
    channel<int> b(1);
    semaphore permits(1);
    event stop;
    int won = -1;
    const auto choose = [](channel<int>& x, channel<int>& y, semaphore& p, event& e, int& w) -> task<> {
        auto got = co_await select(x.receive(), y.receive(), p.acquire(), e.wait(), sleep_for(1s));
        w = static_cast<int>(got.index());
    };
    auto held = permits.try_acquire();
    s.play(choose(a, b, permits, stop, won));
    EXPECT_EQ(a.receivers_now() + b.receivers_now() + permits.waiters_now() + stop.waiters_now(), 4U);
    ASSERT_TRUE(b.try_send(2));
    ASSERT_TRUE(a.try_send(1));  // b's wake has decided: this value stays
    held.give_back();
    stop.set();
    s.run();
    EXPECT_EQ(won, 1);
    EXPECT_EQ(a.size(), 1U);
    EXPECT_EQ(b.size(), 0U);
    EXPECT_EQ(permits.available(), 1U);
    EXPECT_EQ(a.receivers_now() + b.receivers_now() + permits.waiters_now() + stop.waiters_now(), 0U);
    EXPECT_EQ(s.executor.clock().armed(), 0U);
}

TEST(select, JOB_55_a_send_that_loses_keeps_its_value) {
    stage s;
    channel<std::unique_ptr<int>> c(0);
    event stop;
    auto value = std::make_unique<int>(5);
    std::size_t won = 9;
    const auto send_or_stop = [](channel<std::unique_ptr<int>>& to, std::unique_ptr<int>& v, event& e,
                                 std::size_t& w) -> task<> {
        auto got = co_await select(to.send_from(v), e.wait());
        w = got.index();
    };
    s.play(send_or_stop(c, value, stop, won));
    EXPECT_EQ(c.senders_now(), 1U);
    stop.set();
    EXPECT_FALSE(c.try_receive()) << "the event has decided";
    s.run();
    EXPECT_EQ(won, 1U);
    ASSERT_NE(value, nullptr);
    stop.reset();
    s.play(send_or_stop(c, value, stop, won));
    auto got = c.try_receive();
    ASSERT_TRUE(got);
    stop.set();
    s.run();
    EXPECT_EQ(won, 0U);
    EXPECT_EQ(value, nullptr);
}

TEST(select, JOB_56_two_selects_meet_at_a_channel_without_places) {
    stage s;
    channel<int> c(0);
    event never;
    int sent = 3;
    seen out;
    const auto sender = [](channel<int>& to, int& v, event& e, seen& o) -> task<> {
        auto got = co_await select(e.wait(), to.send_from(v));
        o.push_back(static_cast<int>(got.index()));
    };
    s.play(receive_or_stop(c, never, out), "receiver");
    s.play(sender(c, sent, never, out), "sender");
    EXPECT_EQ(out.size(), 2U);
    s.play(sender(c, sent, never, out), "sender first");
    s.play(receive_or_stop(c, never, out));
    EXPECT_EQ(out.size(), 4U);
    EXPECT_EQ(c.senders_now() + c.receivers_now() + never.waiters_now(), 0U);
}

TEST(select, JOB_56_a_select_does_not_meet_itself) {
    stage s;
    channel<int> c(0);
    int mine = 1;
    std::size_t won = 9;
    const auto both = [](channel<int>& x, int& v, std::size_t& w) -> task<> {
        auto got = co_await select(x.send_from(v), x.receive());
        w = got.index();
    };
    const job j = s.play(both(c, mine, won));
    EXPECT_FALSE(j.is_finished());
    ASSERT_TRUE(c.try_send(2));
    s.run();
    EXPECT_EQ(won, 1U);
    EXPECT_EQ(c.senders_now(), 0U);
}

TEST(select, JOB_57_cancelling_takes_every_clause_out_and_rolls_back) {
    stage s;
    channel<int> c(0);
    channel<int> d(0);
    semaphore permits(1);
    auto held = permits.try_acquire();
    int mine = 4;
    const auto choose = [](channel<int>& x, channel<int>& y, int& v, semaphore& p) -> task<> {
        auto got = co_await select(x.receive(), y.send_from(v), p.acquire(), sleep_for(1h));
        static_cast<void>(got);
        ADD_FAILURE() << "it was cancelled";
    };
    const job j = s.play(choose(c, d, mine, permits));
    j.cancel();
    // Decided already, though the body has not run yet: nothing can be given to it.
    EXPECT_FALSE(c.try_send(1));
    EXPECT_FALSE(d.try_receive());
    held.give_back();
    EXPECT_EQ(permits.available(), 1U);
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(c.waiters_now() + d.waiters_now() + permits.waiters_now(), 0U);
    EXPECT_EQ(mine, 4);
    // In a cancelled job no clause begins.
    ASSERT_TRUE(permits.try_acquire());
}

TEST(select, JOB_58_time_and_jobs_are_clauses) {
    stage s;
    event go;
    const auto sleeper = [](event& e, int result) -> task<int> {
        co_await e.wait();
        co_return result;
    };
    const auto choose = [](deferred<int> d, seen& out) -> task<> {
        for (;;) {
            auto got = co_await select(d, sleep_for(1s));
            out.push_back(static_cast<int>(got.index()));
            if (got.index() == 0) {
                out.push_back(co_await std::move(d));
                co_return;
            }
        }
    };
    seen out;
    auto child = s.root.async("child", sleeper(go, 42));
    s.play(choose(std::move(child), out));
    s.advance(1s);
    EXPECT_EQ(out, seen{1});
    go.set();
    s.run();
    EXPECT_EQ(out, (seen{1, 0, 42}));
    EXPECT_EQ(s.executor.clock().armed(), 0U);
    const auto at_once = [](seen& o) -> task<> {
        auto got = co_await select(job(), sleep_for(1s));
        o.push_back(static_cast<int>(got.index()));
        auto late = co_await select(sleep_until(time_point::min()), sleep_for(1s));
        o.push_back(static_cast<int>(late.index()));
    };
    s.play(at_once(out));
    EXPECT_EQ(out, (seen{1, 0, 42, 0, 0}));
}

TEST(select, JOB_58_joining_an_ancestor_throws) {
    stage s;
    const auto body = []() -> task<bool> {
        const job me = co_await this_job();
        try {
            auto got = co_await select(me, sleep_for(1s));
            co_return got.index() == 5;
        } catch (const error& e) {
            co_return e.code() == errc::would_deadlock;
        }
    };
    bool threw = false;
    const auto run = [](task<bool> t, bool& out) -> task<> { out = co_await std::move(t); };
    s.play(run(body(), threw));
    EXPECT_TRUE(threw);
}

TEST(select, JOB_59_leftmost_first_or_fair) {
    stage s;
    event a("a", true);
    event b("b", true);
    const auto count = [](event& x, event& y, bool is_fair, int& first) -> task<> {
        for (int i = 0; i < 200; ++i) {
            if (is_fair) {
                auto got = co_await select(fair, x.wait(), y.wait());
                first += got.index() == 0 ? 1 : 0;
            } else {
                auto got = co_await select(x.wait(), y.wait());
                first += got.index() == 0 ? 1 : 0;
            }
        }
    };
    int first = 0;
    s.play(count(a, b, false, first));
    EXPECT_EQ(first, 200);
    first = 0;
    s.play(count(a, b, true, first));
    EXPECT_GT(first, 0);
    EXPECT_LT(first, 200);
}

TEST(select, JOB_54_signals_mutexes_and_closed_channels) {
    stage s;
    auto_reset_event signal;
    mutex m;
    channel<int> c(0);
    latch l(1);
    seen out;
    const auto choose = [](auto_reset_event& e, mutex& x, channel<int>& y, latch& z, seen& o) -> task<> {
        auto got = co_await select(e.wait(), x.lock(), y.receive(), z.wait());
        o.push_back(static_cast<int>(got.index()));
        if (got.index() == 2) {
            EXPECT_FALSE(got.get<2>());
        }
    };
    auto held = m.try_lock();
    s.play(choose(signal, m, c, l, out));
    signal.set();
    s.play(choose(signal, m, c, l, out));
    held = {};
    s.run();
    EXPECT_EQ(out, (seen{0, 1}));
    held = m.try_lock();
    ASSERT_TRUE(held);
    s.play(choose(signal, m, c, l, out));
    c.close();
    s.run();
    EXPECT_EQ(out, (seen{0, 1, 2}));
    held = {};
}

TEST(select, JOB_60_closed_timers_end_the_body) {
    stage s;
    event never;
    s.executor.clock().closed = true;
    const auto choose = [](event& e) -> task<> {
        auto got = co_await select(e.wait(), sleep_for(1s));
        static_cast<void>(got);
    };
    const job j = s.play(choose(never));
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().kind(), reason_kind::closed);
    EXPECT_EQ(never.waiters_now(), 0U);
}

TEST(select, JOB_55_a_job_that_ends_when_another_clause_has_happened_is_not_chosen) {
    stage s;
    event stop;
    auto [answer, mine] = make_promise<int>(s.root, "target", external_cancel::abandon);
    const auto choose = [](job target, event& e, seen& out) -> task<> {
        auto got = co_await select(target, e.wait());
        out.push_back(static_cast<int>(got.index()));
    };
    seen out;
    const job chooses = s.play(choose(answer.as_job(), stop, out));
    stop.set();
    mine.set_value(1);
    s.run();
    EXPECT_EQ(out, seen{1});
    EXPECT_EQ(chooses.state(), job_state::completed);
    EXPECT_TRUE(answer.as_job().is_finished());
}

task<> receive_one(channel<int>& c, int id, seen& out) {
    auto got = co_await c.receive();
    if (got) {
        out.push_back(id * 100 + *got);
    }
}
task<> send_or_stop(channel<int>& c, event& stop, int value, seen& out) {
    auto got = co_await select(c.send_from(value), stop.wait());
    out.push_back(static_cast<int>(got.index()));
}
TEST(select, JOB_54_in_one_line_with_others_it_has_its_turn_and_lets_them_have_theirs) {
    stage s;
    channel<int> c(0);
    event stop;
    seen out;
    s.play(receive_one(c, 1, out));
    s.play(receive_or_stop(c, stop, out));
    s.play(receive_one(c, 3, out));
    EXPECT_TRUE(c.try_send(7));
    s.run();
    EXPECT_EQ(out, seen{107});
    seen sent;
    s.play(send_or_stop(c, stop, 8, sent));
    s.play(receive_or_stop(c, stop, out));
    s.play(receive_one(c, 5, out));
    for (const int value : {9, 10, 11}) {
        s.play(send_or_stop(c, stop, value, sent));
    }
    EXPECT_EQ(sent, (seen{0, 0, 0, 0}));
    EXPECT_EQ(out, (seen{107, 8, 309, 10, 511}));
    EXPECT_EQ(c.receivers_now() + stop.waiters_now(), 0U);
}

TEST(select, JOB_54_setting_an_event_wakes_selects_and_others) {
    stage s;
    channel<int> c(1);
    event stop;
    seen out;
    const auto wait = [](event& e, seen& o) -> task<> {
        co_await e.wait();
        o.push_back(1);
    };
    s.play(wait(stop, out));
    s.play(receive_or_stop(c, stop, out));
    s.play(wait(stop, out));
    stop.set();
    s.run();
    EXPECT_EQ(out, (seen{1, -1, 1}));
    EXPECT_EQ(c.receivers_now() + stop.waiters_now(), 0U);
}

// Called between the look at what is ready and the queueing up.
class comes_meanwhile final : public job_observer {
public:
    comes_meanwhile(owned_scope& root, channel<int>& c, event& stop, seen& out)
        : root_(&root), channel_(&c), stop_(&stop), out_(&out) {}
    void on_event(const job_event& e) noexcept override {
        if (e.kind() == job_event_kind::wait_registered) {
            root_->launch("waits", receive_one(*channel_, 1, *out_), start::immediate);
            root_->launch("chooses", receive_or_stop(*channel_, *stop_, *out_), start::immediate);
        }
    }

private:
    owned_scope* root_;
    channel<int>* channel_;
    event* stop_;
    seen* out_;
};
TEST(select, JOB_54_a_partner_that_comes_while_it_queues_up_is_met) {
    stage s;
    channel<int> c(0);
    event stop;
    seen out;
    auto [answer, mine] = make_promise<int>(s.root, "target", external_cancel::abandon);
    const auto choose = [](job target, channel<int>& to, seen& won) -> task<> {
        int value = 5;
        auto got = co_await select(target, to.send_from(value));
        won.push_back(static_cast<int>(got.index()));
    };
    seen won;
    {
        comes_meanwhile observer(s.root, c, stop, out);
        const observation watched(observer);
        s.play(choose(answer.as_job(), c, won));
    }
    EXPECT_EQ(won, seen{1});
    EXPECT_EQ(out, seen{105});
    stop.set();
    mine.set_value(1);
    s.run();
    EXPECT_EQ(out, (seen{105, -1}));
}

}  // namespace
