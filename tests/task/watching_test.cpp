// Through job_events_test.cpp and watching_model.cpp; here only the slots.
#include <roost/task/detail/job/watching.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost;
using namespace roost::observe;
using roost::detail::watching;

class silent final : public job_observer {
public:
    void on_event(const job_event&) noexcept override {}
};

TEST(watching, JOB_63_slots_are_reused) {
    watching all;
    silent n;
    for (std::size_t i = 0; i < watching::slots; ++i) {
        EXPECT_EQ(all.add_observer(n), i);
    }
    EXPECT_EQ(all.add_observer(n), watching::slots);
    all.remove_observer(3);
    EXPECT_EQ(all.add_observer(n), 3U);
    for (std::size_t i = 0; i < watching::slots; ++i) {
        all.remove_observer(i);
    }
}

}  // namespace
