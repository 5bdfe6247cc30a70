#include <roost/runtime/runtime.hpp>

#include <roost/base/atomic.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace roost;

// Work that runs a closure. Lives until it has run.
struct call : work {
    explicit call(std::function<void()> f)
        : work(+[](work& w) noexcept { static_cast<call&>(w).body(); }), body(std::move(f)) {}
    std::function<void()> body;
};

struct counter {
    atomic<std::uint32_t> left;
    explicit counter(std::uint32_t n) : left(n) {}
    void down() {
        if (left.fetch_sub(1, mo::acq_rel) == 1) {
            wake_on(&left, 1000);
        }
    }
    void wait() {
        for (std::uint32_t seen = left.load(mo::acquire); seen != 0; seen = left.load(mo::acquire)) {
            wait_on(left, seen);
        }
    }
};

class runtime_of : public ::testing::TestWithParam<unsigned> {};

TEST_P(runtime_of, RUN_1_runs_everything_posted_once) {
    runtime rt(runtime_options().workers(GetParam()));
    constexpr std::uint32_t count = 10000;
    counter done(count);
    atomic<std::uint32_t> runs{0};
    std::vector<std::unique_ptr<call>> all;
    for (std::uint32_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<call>([&] {
            runs.fetch_add(1, mo::relaxed);
            done.down();
        }));
    }
    for (auto& c : all) {
        EXPECT_TRUE(rt.post(*c));
    }
    done.wait();
    EXPECT_EQ(runs.load(mo::relaxed), count);
}

TEST_P(runtime_of, RUN_2_work_posts_work) {
    runtime rt(runtime_options().workers(GetParam()));
    counter done(1);
    int left = 100000;
    call* self = nullptr;
    call c([&] {
        EXPECT_TRUE(rt.get_executor().is_here());
        if (--left == 0) {
            done.down();
        } else if (left % 2 == 0) {
            rt.get_executor().post(*self);
        } else {
            rt.get_executor().post_last(*self);
        }
    });
    self = &c;
    EXPECT_FALSE(rt.get_executor().is_here());
    rt.post(c);
    done.wait();
    EXPECT_EQ(left, 0);
}

TEST_P(runtime_of, RUN_3_timers_fire_in_time_and_never_early) {
    runtime rt(runtime_options().workers(GetParam()));
    struct alarm : timer {
        alarm() : timer(+[](timer& t) noexcept {
                      auto& me = static_cast<alarm&>(t);
                      me.at = now();
                      me.done->down();
                  }) {}
        counter* done = nullptr;
        time_point at{};
    };
    counter done(3);
    alarm alarms[3];
    const int ms[] = {30, 1, -5};
    for (int i = 0; i < 3; ++i) {
        alarms[i].done = &done;
        alarms[i].set_deadline(deadline_after(now(), std::chrono::milliseconds(ms[i])));
        EXPECT_TRUE(rt.timers().arm(alarms[i]));
    }
    done.wait();
    for (alarm& a : alarms) {
        EXPECT_FALSE(rt.timers().disarm(a));
        EXPECT_GE(a.at, a.deadline());
    }
    alarm far;
    far.done = &done;
    far.set_deadline(no_deadline);
    EXPECT_TRUE(rt.timers().arm(far));
    EXPECT_TRUE(rt.timers().disarm(far));
}

INSTANTIATE_TEST_SUITE_P(workers, runtime_of, ::testing::Values(1U, 2U, 4U));

}  // namespace
