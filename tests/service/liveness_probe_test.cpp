#include <roost/service/detail/liveness_probe.hpp>

#include <roost/testing/manual_executor.hpp>

#include <gtest/gtest.h>

namespace roost::service::detail {
using namespace ext;

namespace {

using std::chrono::seconds;
constexpr time_point start{seconds(100)};

TEST(liveness_probe, SVC_61_live_while_what_is_posted_runs_in_time) {
    testing::manual_executor executor;
    liveness_probe& p = liveness_probe::make(executor);
    EXPECT_TRUE(p.is_live(start, seconds(10)));
    p.probe(start);
    EXPECT_TRUE(p.is_live(start + seconds(9), seconds(10)));
    EXPECT_FALSE(p.is_live(start + seconds(10), seconds(10)));
    p.probe(start + seconds(10));  // the last one has not run: nothing new is posted
    EXPECT_FALSE(p.is_live(start + seconds(10), seconds(10)));
    executor.run_all();
    EXPECT_TRUE(p.is_live(start + seconds(30), seconds(10)));
    p.leave();
}

TEST(liveness_probe, SVC_61_a_closed_executor_is_not_asked_again) {
    class closed final : public executor {
    public:
        bool post(work&) noexcept override { return ++asked < 0; }
        int asked = 0;
    } executor;
    liveness_probe& p = liveness_probe::make(executor);
    p.probe(start);
    p.probe(start);
    EXPECT_EQ(executor.asked, 1);
    EXPECT_TRUE(p.is_live(start + seconds(100), seconds(10)));
    p.leave();
}

// Under AddressSanitizer: freed once, by the last of the two.
TEST(liveness_probe, SVC_61_orphan) {
    testing::manual_executor executor;
    liveness_probe& p = liveness_probe::make(executor);
    p.probe(start);
    p.leave();
    executor.run_all();
    liveness_probe& q = liveness_probe::make(executor);
    q.probe(start);
    executor.run_all();
    q.leave();
}

}  // namespace
}  // namespace roost::service::detail
