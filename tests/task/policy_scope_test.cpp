#include <roost/task/detail/job/policy_scope.hpp>

#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace roost;

namespace {

task<> wait_for(event& e) { co_await e.wait(); }
task<> two_children(scope& s, event& e, std::vector<job>& jobs) {
    jobs.push_back(s.launch("a", wait_for(e)));
    jobs.push_back(s.launch("b", wait_for(e)));
    co_return;
}
task<> run_with(const detail::scope_policy& policy, event& e, std::vector<job>& jobs) {
    using start_function = task<> (*)(scope&, event&, std::vector<job>&);
    detail::policy_scope<start_function, std::reference_wrapper<event>, std::reference_wrapper<std::vector<job>>> all(
        policy, "policy", site(), &two_children, std::ref(e), std::ref(jobs));
    co_await std::move(all);
}

TEST(policy_scope, JOB_39_needing_all_a_cancelled_child_takes_the_others_down) {
    rig::stage s;
    event never;
    std::vector<job> jobs;
    s.play(run_with(detail::need_all_policy, never, jobs));
    jobs[0].cancel(reason(reason_kind::requested, "one"));
    s.run();
    EXPECT_EQ(jobs[1].state(), job_state::cancelled);
    EXPECT_EQ(detail::first_cancellation(jobs).text(), "one");
}

TEST(policy_scope, JOB_40_told_a_cancelled_child_leaves_the_others_alone) {
    rig::stage s;
    event e;
    std::vector<job> jobs;
    s.play(run_with(detail::outcome_policy, e, jobs));
    jobs[0].cancel();
    s.run();
    EXPECT_FALSE(jobs[1].is_finished());
    e.set();
    s.run();
    EXPECT_EQ(jobs[1].state(), job_state::completed);
}

task<> end_here(bool& went_on) {
    co_await detail::end_cancelled(reason(reason_kind::requested, "here"));
    went_on = true;
}

TEST(policy_scope, JOB_39_a_body_can_end_itself_cancelled_with_a_reason) {
    rig::stage s;
    bool went_on = false;
    const job j = s.play(end_here(went_on));
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().text(), "here");
    EXPECT_FALSE(went_on);
}

}  // namespace
