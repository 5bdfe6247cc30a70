#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/job/job_extras.hpp>
#include <roost/task/on_exit.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

using namespace roost;

namespace {

task<> fails(int) {
    throw std::runtime_error("cleanup");
    co_return;
}
task<> with_cleanups(int count) {
    for (int i = 0; i < count; ++i) {
        co_await on_exit(fails, i);
    }
}

// Many jobs with extras at once: each finds its own, and they go with their jobs.
TEST(job_extras, TASK_28_every_job_keeps_its_own_further_failures) {
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    {
        rig::stage s;
        std::vector<job> all;
        for (int i = 0; i < 1000; ++i) {
            all.push_back(s.start(with_cleanups(i % 4)));
        }
        s.run();
        for (int i = 0; i < 1000; ++i) {
            EXPECT_EQ(all[static_cast<std::size_t>(i)].others().size(), static_cast<std::size_t>(i % 4)) << i;
        }
    }
    set_failure_sink(before);
}

task<> clean_up_badly(bool also_fails) {
    co_await on_exit(fails, 0);
    if (also_fails) {
        throw std::domain_error("body");
    }
}
task<> look_at_the_second(std::size_t& others) {
    co_await clean_up_badly(false);
    const outcome<void> ended = co_await as_outcome(clean_up_badly(true));
    others = ended.others().size();
}
TEST(job_extras, TASK_28_an_outcome_takes_its_own_further_failures_and_leaves_the_earlier_ones) {
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    {
        rig::stage s;
        std::size_t others = 0;
        const job j = s.play(look_at_the_second(others));
        EXPECT_EQ(others, 1U);
        EXPECT_EQ(j.others().size(), 1U);
    }
    set_failure_sink(before);
}

}  // namespace
