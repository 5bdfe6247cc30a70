#include <roost/task/job_state.hpp>

#include <gtest/gtest.h>

using namespace roost;

namespace {

static_assert(!is_final(job_state::fresh) && !is_final(job_state::active));
static_assert(!is_final(job_state::completing) && !is_final(job_state::cancelling));
static_assert(is_final(job_state::completed) && is_final(job_state::failed) && is_final(job_state::cancelled));

TEST(job_state, JOB_6_every_state_has_a_name) {
    EXPECT_EQ(to_string(job_state::fresh), "fresh");
    EXPECT_EQ(to_string(job_state::active), "active");
    EXPECT_EQ(to_string(job_state::completing), "completing");
    EXPECT_EQ(to_string(job_state::cancelling), "cancelling");
    EXPECT_EQ(to_string(job_state::completed), "completed");
    EXPECT_EQ(to_string(job_state::failed), "failed");
    EXPECT_EQ(to_string(job_state::cancelled), "cancelled");
    EXPECT_EQ(to_string(static_cast<job_state>(99)), "unknown");
}

TEST(job_state, JOB_6_the_last_three_are_final) {
    for (int i = 0; i <= static_cast<int>(job_state::cancelled); ++i) {
        EXPECT_EQ(is_final(static_cast<job_state>(i)), i >= static_cast<int>(job_state::completed));
    }
}

}  // namespace
