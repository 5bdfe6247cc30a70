#include <roost/task/job_state.hpp>

#include <gtest/gtest.h>

using namespace roost;

namespace {

static_assert(!is_final(job_state::fresh) && !is_final(job_state::active));
static_assert(!is_final(job_state::completing) && !is_final(job_state::cancelling));
static_assert(is_final(job_state::completed) && is_final(job_state::failed) && is_final(job_state::cancelled));

TEST(job_state, JOB_6_every_state_has_a_name) {
    EXPECT_EQ(to_string(job_state::fresh), "new");
    EXPECT_EQ(to_string(job_state::cancelling), "cancelling");
    EXPECT_EQ(to_string(job_state::failed), "failed");
}

}  // namespace
