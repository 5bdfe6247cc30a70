#include <roost/sync/detail/interrupt_source.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

namespace {

using roost::detail::deadline_source_of;
using roost::detail::stop_source_of;
using roost::ext::claim;
using sync_testing::hand_executor;
using sync_testing::hand_timers;

claim last = claim::idle;
void record(void*, claim as) noexcept { last = as; }

TEST(interrupt_source, SYNC_60_stop_calls_until_disarmed) {
    last = claim::idle;
    std::stop_source stop;
    stop_source_of<false> source(stop.get_token(), {});
    source.arm(record, nullptr, {});
    source.disarm();
    stop.request_stop();
    EXPECT_EQ(last, claim::idle);
    source.arm(record, nullptr, {});
    EXPECT_EQ(last, claim::cancelled) << "a stop that has been requested already calls at once";
}

TEST(interrupt_source, SYNC_63_deadline_calls_until_disarmed) {
    last = claim::idle;
    hand_executor executor;
    hand_timers timers;
    deadline_source_of<true> source(timers.now() + std::chrono::seconds(1), executor, &timers);
    EXPECT_EQ(source.executor_or({}), roost::executor_ref(executor));
    source.arm(record, nullptr, executor);
    source.disarm();
    timers.advance(std::chrono::seconds(2));
    EXPECT_EQ(last, claim::idle);
    source.arm(record, nullptr, executor);
    timers.advance(std::chrono::seconds(2));
    EXPECT_EQ(last, claim::expired);
}

TEST(interrupt_source, SYNC_63_no_deadline_needs_no_timers) {
    last = claim::idle;
    hand_executor executor;
    deadline_source_of<false> source(roost::no_deadline, {}, nullptr);
    source.arm(record, nullptr, executor);
    EXPECT_EQ(last, claim::idle);
}

class closed_timers final : public roost::ext::timer_service {
public:
    roost::time_point now() noexcept override { return {}; }
    bool arm(roost::ext::timer&) noexcept override { return false; }
    bool disarm(roost::ext::timer&) noexcept override { return false; }
};

TEST(interrupt_source, SYNC_66_closed_timers_expire_at_once) {
    last = claim::idle;
    hand_executor executor;
    closed_timers timers;
    deadline_source_of<true> source(roost::time_point(std::chrono::hours(1)), executor, &timers);
    source.arm(record, nullptr, executor);
    EXPECT_EQ(last, claim::expired);
}

TEST(interrupt_source_death, SYNC_66_deadline_without_timers_is_named) {
    EXPECT_DEATH(
        {
            hand_executor executor;
            deadline_source_of<false> source(roost::time_point(std::chrono::hours(1)), {}, nullptr);
            source.arm(record, nullptr, executor);
        },
        "it has no timers, so a wait on it cannot have a deadline");
}

}  // namespace
