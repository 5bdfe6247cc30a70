// Whatever thread cancels a job, and however soon the job ends: each event once, in the order of the states.
#include <roost/task/detail/job/event_sequence.hpp>

#include <roost/observe/job_events.hpp>
#include <roost/sync/event.hpp>
#include <roost/tree/lease.hpp>

#include "rig.hpp"

#include <string>
#include <vector>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;
using rig::stage;
using roost::detail::event_sequence;

TEST(event_sequence, JOB_102_a_request_during_a_report_is_left_to_the_reporting_thread) {
    event_sequence events(true);
    EXPECT_FALSE(events.begin_cancel());
    EXPECT_FALSE(events.begin_cancel());
    EXPECT_TRUE(events.done());
    EXPECT_FALSE(events.done());
    EXPECT_FALSE(events.begin());
    EXPECT_FALSE(events.begin_cancel());
}

TEST(event_sequence, JOB_102_states_before_the_request_are_reported_one_after_the_other) {
    event_sequence events(false);
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(events.begin());
        EXPECT_FALSE(events.done());
    }
    EXPECT_TRUE(events.begin_cancel());
    EXPECT_FALSE(events.begin());
    EXPECT_FALSE(events.done());
    EXPECT_FALSE(events.begin());
}

// Writes every event down, and can do something at one of them.
class recorder final : public job_observer {
public:
    void on_event(const job_event& e) noexcept override {
        const bool is_state = e.kind() == job_event_kind::state_changed;
        lines.emplace_back(is_state ? to_string(e.state()) : to_string(e.kind()));
        if (is_state && e.state() == at && cancel != nullptr) {
            std::exchange(cancel, nullptr)->cancel();
        }
    }
    std::vector<std::string> lines;
    job_state at = job_state::active;
    const job* cancel = nullptr;
};

using lines = std::vector<std::string>;
const lines cancelled_once{"created", "child attached", "active", "cancel requested", "cancelling", "cancelled", "finished"};

task<> wait_for(event& e) { co_await e.wait(); }

class counting {
public:
    counting() : before_(set_job_counting(true)), start_(job_counts_now()) {}
    counting(const counting&) = delete;
    counting& operator=(const counting&) = delete;
    ~counting() { set_job_counting(before_); }
    [[nodiscard]] std::uint64_t requests() const {
        return job_counts_now().cancels_requested() - start_.cancels_requested();
    }
    [[nodiscard]] std::uint64_t cancelled() const { return job_counts_now().cancelled() - start_.cancelled(); }

private:
    bool before_;
    job_counts start_;
};

// The job has ended inside the call that cancels it.
TEST(event_sequence, JOB_61_a_job_that_ends_inside_its_cancel_is_counted) {
    inline_executor here;
    event never;
    recorder seen;
    const counting n;
    {
        owned_scope root(here, scope_options("root").report_failures());
        const observation on(seen);
        root.launch("waits", wait_for(never)).cancel();
        root.close_blocking();
    }
    EXPECT_EQ(n.requests(), 1U);
    EXPECT_EQ(n.cancelled(), 1U);
    EXPECT_EQ(seen.lines, cancelled_once);
}

// The observer cancels the job during the event `active`: the request is reported afterwards.
TEST(event_sequence, JOB_102_a_request_made_by_an_observer_is_reported_after_the_current_event) {
    stage s;
    event never;
    recorder seen;
    const counting n;
    {
        const observation on(seen);
        const job j = s.start(wait_for(never), "waits");
        seen.cancel = &j;
        s.run();
    }
    EXPECT_EQ(n.requests(), 1U);
    EXPECT_EQ(seen.lines, cancelled_once);
}

// Its body has returned and a lease is out: cancelling is the next state.
TEST(event_sequence, JOB_102_a_completing_job_can_be_cancelled) {
    stage s;
    recorder seen;
    const counting n;
    {
        const observation on(seen);
        event go;
        const job j = s.play(wait_for(go), "completes");
        lease held = lease::try_take(j.tree_node());
        go.set();
        s.run();
        EXPECT_EQ(j.state(), job_state::completing);
        j.cancel();
        EXPECT_EQ(j.state(), job_state::cancelling);
        EXPECT_EQ(seen.lines.back(), "cancelling");
        held.give_back();
        EXPECT_EQ(j.state(), job_state::completed);
    }
    EXPECT_EQ(n.requests(), 1U);
    EXPECT_EQ(seen.lines, (lines{"created", "child attached", "active", "completing", "cancel requested", "cancelling",
                                 "completed", "finished"}));
}

// A wait is reported before it can be woken.
class join_when_reported final : public job_observer {
public:
    void on_event(const job_event& e) noexcept override {
        if (e.kind() == job_event_kind::wait_registered) {
            ++registered;
            go->set();  // and with it the job ends, inside this call
        } else if (e.kind() == job_event_kind::wait_woken) {
            EXPECT_EQ(registered, 1);
            ++woken;
        }
    }
    event* go = nullptr;
    int registered = 0;
    int woken = 0;
};

task<> join_it(job j) { co_await j.join(); }

TEST(event_sequence, JOB_62_a_wait_that_ends_while_it_is_registered_is_reported_in_order) {
    inline_executor here;
    event go;
    join_when_reported seen;
    seen.go = &go;
    owned_scope root(here, scope_options("root").report_failures());
    {
        const observation on(seen);
        const job target = root.launch("target", wait_for(go));
        const job joins = root.launch("joins", join_it(target));
        EXPECT_TRUE(joins.is_finished());
        EXPECT_EQ(joins.state(), job_state::completed);
    }
    EXPECT_EQ(seen.registered, 1);
    EXPECT_EQ(seen.woken, 1);
    root.close_blocking();
}

}  // namespace
