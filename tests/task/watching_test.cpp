// Through job_events_test.cpp and watching_model.cpp; here only the switch.
#include <roost/task/detail/job/watching.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost;
using namespace roost::observe;
using roost::detail::watching;

class nobody final : public job_observer {
public:
    void on_event(const job_event&) noexcept override {}
};

TEST(watching, JOB_63_places_are_given_back) {
    watching all;
    nobody n;
    for (std::size_t i = 0; i < watching::places; ++i) {
        EXPECT_EQ(all.come(n), i);
    }
    EXPECT_EQ(all.come(n), watching::places);
    all.go(3);
    EXPECT_EQ(all.come(n), 3U);
    for (std::size_t i = 0; i < watching::places; ++i) {
        all.go(i);
    }
}

}  // namespace
