#include <roost/exec/detail/timer_wheel.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace {

using namespace roost;
using namespace roost::ext;
using wheel = detail::timer_wheel<>;

struct alarm : timer {
    alarm() : timer(+[](timer&) noexcept {}) {}
};

// Slots of two bits, so that a few ticks cross every level.
struct small {
    static constexpr unsigned tick_bits = 16;
    static constexpr unsigned digit_bits = 2;
    static constexpr unsigned levels = 24;
};
struct exact {
    static constexpr unsigned tick_bits = 0;
    static constexpr unsigned digit_bits = 6;
    static constexpr unsigned levels = 11;
};

TEST(timer_wheel, RUN_23_deadlines_are_rounded_up_to_ticks) {
    EXPECT_EQ(wheel::tick_of(time_point::min()), 0U);
    EXPECT_EQ(wheel::tick_of(time_point(duration(-1))), 0U);
    EXPECT_EQ(wheel::tick_of(time_point(duration(0))), 0U);
    EXPECT_EQ(wheel::tick_of(time_point(duration(1))), 1U);
    EXPECT_EQ(wheel::tick_of(time_point(duration(65536))), 1U);
    EXPECT_EQ(wheel::tick_of(time_point(duration(65537))), 2U);
    EXPECT_EQ(wheel::begun_at(time_point(duration(65535))), 0U);
    EXPECT_EQ(wheel::begun_at(time_point(duration(65536))), 1U);
    EXPECT_EQ(wheel::start_of(wheel::tick_of(no_deadline)), no_deadline);
    EXPECT_EQ(wheel::start_of(wheel::never), no_deadline);
    EXPECT_EQ(wheel::start_of(1), time_point(duration(65536)));
}

// Random arming, erasing and waiting against a sorted map: nothing early, nothing late, nothing lost.
template <class Policy>
void against_a_map(unsigned seed, int steps, std::int64_t horizon) {
    using tested = detail::timer_wheel<Policy>;
    std::mt19937_64 random(seed);
    tested w;
    std::vector<std::unique_ptr<alarm>> alarms(200);
    std::multimap<typename tested::tick, alarm*> model;
    std::vector<bool> armed(alarms.size());
    std::int64_t clock = 0;
    for (auto& a : alarms) {
        a = std::make_unique<alarm>();
    }
    const auto forget = [&](alarm* a) {
        auto range = model.equal_range(tested::tick_of(a->deadline()));
        for (auto it = range.first; it != range.second; ++it) {
            if (it->second == a) {
                model.erase(it);
                return true;
            }
        }
        return false;
    };
    for (int step = 0; step < steps; ++step) {
        const std::size_t which = random() % alarms.size();
        alarm& a = *alarms[which];
        if (random() % 8 == 0) {
            clock += static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(horizon));
            const auto now = tested::begun_at(time_point(duration(clock)));
            w.advance(now);
            while (timer* due = w.pop_due()) {
                ASSERT_LE(due->deadline().time_since_epoch().count(), clock) << "never early";
                for (std::size_t i = 0; i < alarms.size(); ++i) {
                    if (alarms[i].get() == due) {
                        ASSERT_TRUE(armed[i]);
                        armed[i] = false;
                    }
                }
                ASSERT_TRUE(forget(static_cast<alarm*>(due)));
            }
            ASSERT_TRUE(model.empty() || model.begin()->first > now) << "everything due came out";
        } else if (armed[which]) {
            w.erase(a);
            armed[which] = false;
            ASSERT_TRUE(forget(&a));
        } else {
            a.set_deadline(time_point(
                duration(clock - 1000 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(horizon * 50)))));
            w.insert(a);
            armed[which] = true;
            model.emplace(tested::tick_of(a.deadline()), &a);
        }
        ASSERT_EQ(w.is_empty(), model.empty());
        ASSERT_TRUE(model.empty() ||
                    w.next_tick() <= std::max(model.begin()->first, tested::begun_at(time_point(duration(clock)))))
            << "the next look comes in time";
    }
    for (std::size_t left = model.size(); left > 0; --left) {
        ASSERT_NE(w.pop_any(), nullptr);
    }
    EXPECT_EQ(w.pop_any(), nullptr);
}

TEST(timer_wheel, RUN_23_agrees_with_a_sorted_map) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        against_a_map<detail::wheel_policy>(seed, 20000, 10'000'000);
        against_a_map<detail::wheel_policy>(seed, 5000, 3'600'000'000'000);
        against_a_map<small>(seed, 20000, 10'000'000);
        against_a_map<exact>(seed, 20000, 1000);
        against_a_map<exact>(seed, 5000, 1'000'000'000'000);
    }
}

TEST(timer_wheel, RUN_24_extreme_deadlines) {
    wheel w;
    w.advance(wheel::begun_at(time_point(std::chrono::hours(1000))));
    alarm past;
    alarm forever;
    alarm negative;
    past.set_deadline(time_point(duration(1)));
    negative.set_deadline(time_point::min());
    forever.set_deadline(no_deadline);
    w.insert(past);
    w.insert(forever);
    w.insert(negative);
    EXPECT_EQ(w.pop_due(), &past);
    EXPECT_EQ(w.pop_due(), &negative);
    EXPECT_EQ(w.pop_due(), nullptr);
    w.advance(wheel::begun_at(no_deadline - std::chrono::hours(24)));
    EXPECT_EQ(w.pop_due(), nullptr) << "not even after three hundred years";
    w.advance(0);
    EXPECT_FALSE(w.is_empty()) << "a clock that goes back changes nothing";
    w.erase(forever);
    EXPECT_TRUE(w.is_empty());
}

}  // namespace
