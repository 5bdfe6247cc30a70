#include <roost/observe/job_events.hpp>

#include <roost/base/error.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/deferred.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include "../task/rig.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace roost;
using namespace roost::observe;
using rig::stage;

task<> nothing() { co_return; }
task<> fails() {
    throw std::runtime_error("planned");
    co_return;
}
task<> wait_for(event& e) { co_await e.wait(); }
task<> join_it(job j) { co_await j.join(); }

class counting {
public:
    counting() : before_(set_job_counting(true)) { start_ = job_counts_now(); }
    ~counting() { set_job_counting(before_); }
    [[nodiscard]] std::uint64_t since(std::uint64_t (job_counts::*what)() const noexcept) const {
        return (job_counts_now().*what)() - (start_.*what)();
    }

private:
    bool before_;
    job_counts start_;
};

TEST(job_events, JOB_61_the_seven_counters) {
    const auto sink = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    {
        stage s;
        event go;
        const counting n;
        s.play(nothing());
        s.play(fails());
        const job waits = s.play(wait_for(go));
        s.play(join_it(waits));
        s.play(join_it(waits));
        waits.cancel();
        waits.cancel();
        s.root.tree_node().abort();  // a higher level is no second request
        s.run();
        s.play(nothing());  // born cancelled
        EXPECT_EQ(n.since(&job_counts::created), 6U);
        EXPECT_EQ(n.since(&job_counts::failed), 1U);
        EXPECT_EQ(n.since(&job_counts::waits_registered), 2U);
        EXPECT_EQ(n.since(&job_counts::cancels_requested), 4U);
        EXPECT_EQ(n.since(&job_counts::cancelled), 4U - n.since(&job_counts::waits_woken));
        EXPECT_EQ(n.since(&job_counts::finished), 6U);
    }
    set_failure_sink(sink);
}

TEST(job_events, JOB_61_thirty_two_waits) {
    stage s;
    event go;
    const counting n;
    const job target = s.play(wait_for(go));
    for (int i = 0; i < 32; ++i) {
        s.play(join_it(target));
    }
    go.set();
    s.run();
    EXPECT_EQ(n.since(&job_counts::waits_registered), 32U);
    EXPECT_EQ(n.since(&job_counts::waits_woken), 32U);
    EXPECT_EQ(n.since(&job_counts::completed), 33U);
}

TEST(job_events, JOB_61_jobs_that_began_before_are_not_counted) {
    stage s;
    event go;
    s.play(wait_for(go));
    const counting n;
    s.play(nothing());
    go.set();
    s.run();
    EXPECT_EQ(n.since(&job_counts::created), 1U);
    EXPECT_EQ(n.since(&job_counts::completed), 1U);
}

class recorder final : public job_observer {
public:
    void on_event(const job_event& e) noexcept override {
        lines.push_back(std::string(e.name()) + ": " + std::string(to_string(e.kind())) +
                        (e.kind() == job_event_kind::state_changed ? " to " + std::string(to_string(e.state())) : ""));
        if (e.kind() == job_event_kind::child_attached) {
            EXPECT_EQ(e.parent_name(), e.name() == "bridge" || e.name() == "uninterruptible" ? "scope" : "root");
        }
        if (e.kind() == job_event_kind::cancel_requested) {
            EXPECT_EQ(e.why().kind(), reason_kind::requested);
        }
    }
    std::vector<std::string> lines;
};

TEST(job_events, JOB_62_the_seven_events_once_each_and_in_order) {
    stage s;
    event go;
    recorder seen;
    {
        const observation on(seen);
        const job waits = s.play(wait_for(go), "a");
        s.play(join_it(waits), "b");
        waits.cancel();
        s.run();
    }
    s.play(nothing(), "unseen");
    const std::vector<std::string> expected{"a: created",
                                            "a: child attached",
                                            "a: state changed to active",
                                            "b: created",
                                            "b: child attached",
                                            "b: state changed to active",
                                            "a: wait registered",
                                            "a: cancel requested",
                                            "a: state changed to cancelling",
                                            "a: state changed to cancelled",
                                            "a: finished",
                                            "a: wait woken",
                                            "b: state changed to completing",
                                            "b: state changed to completed",
                                            "b: finished"};
    EXPECT_EQ(seen.lines, expected);
}

TEST(job_events, JOB_63_at_most_eight_observers) {
    recorder r;
    std::vector<std::unique_ptr<observation>> all;
    for (int i = 0; i < 8; ++i) {
        all.push_back(std::make_unique<observation>(r));
    }
    EXPECT_THROW(observation nine(r), error);
    all.clear();
    EXPECT_NO_THROW(observation again(r));
}

task<> bridge_in_cancelled(scope& s) {
    s.cancel();
    auto [answer, set] = make_promise<int>(s, "bridge", external_cancel::abandon);
    auto [other, drop] = make_promise<int>(s, "uninterruptible", external_cancel::uninterruptible);
    set.set_value(1);
    drop.set_cancelled();
    co_return;
}
task<> run_bridge_in_cancelled() { co_await with_scope(bridge_in_cancelled); }

TEST(job_events, JOB_61_a_bridge_that_is_born_cancelled_counts_its_request) {
    stage s;
    const counting n;
    s.play(run_bridge_in_cancelled());
    EXPECT_EQ(n.since(&job_counts::created), 3U);
    EXPECT_EQ(n.since(&job_counts::cancels_requested), 2U);
}

TEST(job_events, JOB_62_a_bridge_that_is_born_cancelled_says_so_once) {
    stage s;
    recorder seen;
    {
        const observation on(seen);
        s.play(run_bridge_in_cancelled());
    }
    for (const char* name : {"bridge", "uninterruptible"}) {
        EXPECT_EQ(std::count(seen.lines.begin(), seen.lines.end(), std::string(name) + ": cancel requested"), 1) << name;
    }
}

class cancels_what_comes final : public job_observer {
public:
    explicit cancels_what_comes(owned_scope& root) : root_(&root) {}
    void on_event(const job_event& e) noexcept override {
        if (e.kind() == job_event_kind::created) {
            root_->cancel();
        }
        requests += e.kind() == job_event_kind::cancel_requested ? 1 : 0;
    }
    int requests = 0;

private:
    owned_scope* root_;
};

TEST(job_events, JOB_62_a_job_that_is_cancelled_while_its_creation_is_told_says_so_once) {
    stage s;
    cancels_what_comes observer(s.root);
    const observation watched(observer);
    const job j = s.play(nothing());
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(observer.requests, 1);
}

task<> cancels_itself() {
    const job me = co_await this_job();
    me.cancel();
}
task<> holds_a_child(event& go, job& out, deferred<>& held, const char* name) {
    const auto body = [](scope& s, event& e, job& o, deferred<>& d, const char* n) -> task<> {
        d = s.async(n, nothing());
        o = s.launch("other", nothing());
        co_await e.wait();
        s.cancel();
        co_await yield();
    };
    static_cast<void>(co_await as_outcome(with_scope(body, std::ref(go), std::ref(out), std::ref(held), name)));
}

class transitions final : public job_observer {
public:
    void on_event(const job_event& e) noexcept override {
        if (e.kind() == job_event_kind::state_changed) {
            states[e.id()].push_back(e.state());
        } else if (e.kind() == job_event_kind::cancel_requested) {
            ++cancels;
        }
    }
    [[nodiscard]] static bool may_follow(job_state before, job_state after) {
        switch (before) {
            case job_state::fresh: return after == job_state::active || after == job_state::cancelling;
            case job_state::active: return after == job_state::completing || after == job_state::cancelling;
            case job_state::completing:
                return after == job_state::cancelling || after == job_state::completed || after == job_state::failed ||
                       after == job_state::cancelled;
            case job_state::cancelling: return is_final(after);
            default: return false;
        }
    }
    void check() const {
        for (const auto& [id, all] : states) {
            job_state before = job_state::fresh;
            for (const job_state after : all) {
                EXPECT_TRUE(may_follow(before, after)) << to_string(before) << " to " << to_string(after);
                before = after;
            }
            EXPECT_TRUE(is_final(before)) << to_string(before);
        }
    }
    std::map<const void*, std::vector<job_state>> states;
    int cancels = 0;
};

TEST(job_events, JOB_102_only_transitions_that_there_are_are_told) {
    const auto sink = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    transitions seen;
    std::vector<job> held;
    {
        stage s;
        event go;
        const observation on(seen);
        held.push_back(s.start(nothing(), "cancelled before it began"));
        held.back().cancel();
        held.push_back(s.play(wait_for(go), "cancelled while suspended"));
        held.back().cancel();
        s.run();
        held.push_back(s.play(cancels_itself(), "cancels itself"));
        held.push_back(s.root.launch("begins cancelled", wait_for(go), start::always));
        held.back().cancel();
        s.run();
        held.push_back(s.play(fails(), "fails"));
        held.push_back(s.play(nothing(), "returns"));
        held.push_back(s.play(wait_for(go), "cancelled by the root"));
        s.root.cancel();
        s.run();
    }
    set_failure_sink(sink);
    EXPECT_EQ(seen.states.size(), held.size());
    EXPECT_EQ(seen.cancels, 5);
    seen.check();
}

TEST(job_events, JOB_102_of_a_job_that_has_ended_and_is_held_no_cancel_is_told_or_counted) {
    transitions seen;
    const counting n;
    {
        stage s;
        event go;
        job other;
        deferred<> held;
        const observation on(seen);
        s.play(holds_a_child(go, other, held, "held"));
        EXPECT_TRUE(other.is_finished());
        go.set();
        s.run();
    }
    EXPECT_EQ(seen.cancels, 0);
    EXPECT_EQ(n.since(&job_counts::cancels_requested), 0U);
    EXPECT_EQ(n.since(&job_counts::cancelled), 0U);
    EXPECT_EQ(n.since(&job_counts::completed), 3U);
    seen.check();
}

}  // namespace
