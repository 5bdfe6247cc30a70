#include <roost/exec/serial_executor.hpp>
#include <roost/exec/timer.hpp>
#include <roost/testing/manual_executor.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace roost;
using namespace roost::ext;

namespace {

class posted final : public work {
public:
    explicit posted(std::function<void()> what) : work(&call), what_(std::move(what)) {}

private:
    static void call(work& self) noexcept { static_cast<posted&>(self).what_(); }
    std::function<void()> what_;
};

TEST(serial_executor, RUN_190_runs_in_the_order_of_posting) {
    roost::testing::manual_executor below;
    serial_executor serial(below, "account");
    EXPECT_EQ(serial.name(), "account");
    std::string order;
    posted a([&] { order += 'a'; });
    posted c([&] { order += 'c'; });
    posted b([&] {
        order += 'b';
        EXPECT_TRUE(serial.post(c));
        order += '-';
    });
    EXPECT_TRUE(serial.post(a));
    EXPECT_TRUE(serial.post(b));
    EXPECT_EQ(below.pending(), 1u) << "one pump, whatever was posted";
    below.run_all();
    EXPECT_EQ(order, "ab-c");
    EXPECT_TRUE(serial.post(a));
    below.run_all();
    EXPECT_EQ(order, "ab-ca");
}

TEST(serial_executor, RUN_190_knows_who_runs_on_it) {
    roost::testing::manual_executor below;
    serial_executor serial(below);
    serial_executor other(below);
    bool inside = false;
    bool in_other = true;
    bool beside = true;
    posted a([&] {
        inside = serial.is_here();
        in_other = other.is_here();
    });
    posted direct([&] { beside = serial.is_here(); });
    serial.post(a);
    below.post(direct);
    EXPECT_FALSE(serial.is_here());
    below.run_all();
    EXPECT_TRUE(inside);
    EXPECT_FALSE(in_other);
    EXPECT_FALSE(beside);
}

// A clock that bodies move.
class moved_clock final : public timer_service {
public:
    time_point now() noexcept override { return at; }
    bool arm(timer&) noexcept override { return false; }
    bool disarm(timer&) noexcept override { return false; }
    time_point at;
};
class clocked final : public executor {
public:
    bool post(work& w) noexcept override { return inner.post(w); }
    timer_service* timers() noexcept override { return &clock; }
    roost::testing::manual_executor inner;
    moved_clock clock;
};
TEST(serial_executor, RUN_191_lets_others_run_when_its_bodies_have_taken_their_time) {
    clocked below;
    serial_executor serial(below);
    int ran = 0;
    int seen_by_the_other = -1;
    std::vector<std::unique_ptr<posted>> many;
    for (int i = 0; i < 10; ++i) {
        many.push_back(std::make_unique<posted>([&] {
            ++ran;
            below.clock.at += std::chrono::microseconds(200);
        }));
        serial.post(*many.back());
    }
    posted other([&] { seen_by_the_other = ran; });
    below.post(other);
    below.inner.run_all();
    EXPECT_EQ(seen_by_the_other, 3) << "600 microseconds";
    EXPECT_EQ(ran, 10);
}

TEST(serial_executor, RUN_191_lets_others_run_after_64_in_a_row) {
    roost::testing::manual_executor below;
    serial_executor serial(below);
    int ran = 0;
    int seen_by_the_other = -1;
    std::vector<std::unique_ptr<posted>> many;
    for (int i = 0; i < 100; ++i) {
        many.push_back(std::make_unique<posted>([&] { ++ran; }));
        serial.post(*many.back());
    }
    posted other([&] { seen_by_the_other = ran; });
    below.post(other);
    below.run_all();
    EXPECT_EQ(seen_by_the_other, 64);
    EXPECT_EQ(ran, 100);
}

TEST(serial_executor, RUN_192_the_last_body_may_destroy_it) {
    roost::testing::manual_executor below;
    auto serial = std::make_unique<serial_executor>(below);
    posted last([&] { serial.reset(); });
    serial->post(last);
    below.run_all();
    EXPECT_EQ(serial, nullptr);
}

TEST(serial_executor, RUN_193_refuses_when_the_executor_below_is_closed) {
    roost::testing::manual_executor below;
    serial_executor serial(below);
    posted a([] { FAIL() << "it was refused"; });
    below.close();
    EXPECT_FALSE(serial.post(a));
    EXPECT_FALSE(serial.post(a)) << "and again, as nothing of the first is left";
}

}  // namespace
