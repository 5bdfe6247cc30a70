// What events are; when they come is in tests/observe/job_events_test.cpp.
#include <roost/task/detail/access.hpp>
#include <roost/task/job_event.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost;
using namespace roost::observe;

TEST(job_event, JOB_62_kinds_have_names) {
    EXPECT_EQ(to_string(job_event_kind::created), "created");
    EXPECT_EQ(to_string(job_event_kind::child_attached), "child attached");
    EXPECT_EQ(to_string(job_event_kind::wait_woken), "wait woken");
    EXPECT_EQ(to_string(static_cast<job_event_kind>(99)), "?");
}

TEST(job_event, JOB_61_finished_is_the_sum_of_the_three_ends) {
    job_counts n;
    detail::task_access::add(n, job_counts::which::created, 9);
    detail::task_access::add(n, job_counts::which::failed, 1);
    detail::task_access::add(n, job_counts::which::completed, 2);
    detail::task_access::add(n, job_counts::which::cancelled, 4);
    EXPECT_EQ(n.created(), 9U);
    EXPECT_EQ(n.finished(), 7U);
}

}  // namespace
