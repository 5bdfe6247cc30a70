#include <roost/runtime/runtime.hpp>

#include "fixture.hpp"

#include <gtest/gtest.h>

#include <string>
#include <system_error>
namespace {

using namespace runtime_tests;

static_assert(!std::is_copy_constructible_v<runtime> && !std::is_move_constructible_v<runtime>);
static_assert(std::is_trivially_destructible_v<runtime_options>, "options live inside co_await expressions");

class runtime_of : public ::testing::TestWithParam<unsigned> {
protected:
    runtime_options options() const { return runtime_options().workers(GetParam()); }
};

struct inside_tag;

TEST_P(runtime_of, RUN_1_runs_everything_posted_once) {
    constexpr std::uint32_t count = 10000;
    countdown done(count);
    atomic<std::uint32_t> runs{0};
    std::vector<std::unique_ptr<call>> all;
    runtime rt(options());
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

TEST(runtime, RUN_114_yielded_work_that_was_taken_keeps_no_worker_awake) {
    for (int round = 0; round < 300; ++round) {
        runtime rt(runtime_options().workers(2));
        std::vector<std::unique_ptr<call>> all;
        std::vector<int> left(8, 20);
        for (int& turns : left) {
            all.push_back(std::make_unique<call>([] {}));
            all.back()->body = [&rt, &turns, self = all.back().get()] {
                if (--turns > 0) {
                    rt.get_executor().post_last(*self);
                }
            };
        }
        for (auto& c : all) {
            EXPECT_TRUE(rt.post(*c));
        }
        rt.shut_down();  // would never end
        EXPECT_EQ(left, std::vector<int>(8, 0));
    }
}

TEST_P(runtime_of, RUN_2_work_posts_work_and_never_runs_inside_post) {
    runtime rt(options());
    countdown done(1);
    int left = 100000;
    call* self = nullptr;
    call c([&] {
        // Per thread: another worker may well run the next turn while this one is still leaving post().
        bool& inside = thread_value<inside_tag, bool>::get();
        EXPECT_FALSE(inside);
        inside = true;
        EXPECT_TRUE(rt.get_executor().is_here());
        const bool over = --left == 0;
        if (!over) {
            left % 2 == 0 ? rt.get_executor().post(*self) : rt.get_executor().post_last(*self);
        }
        inside = false;
        if (over) {
            done.down();
        }
    });
    self = &c;
    EXPECT_FALSE(rt.get_executor().is_here());
    rt.post(c);
    done.wait();
    EXPECT_EQ(left, 0);
}

TEST_P(runtime_of, RUN_3_timers_fire_in_time_and_never_early) {
    runtime rt(options());
    countdown done(3);
    const int ms[] = {30, 1, -5};
    time_point at[3];
    std::vector<std::unique_ptr<test_timer>> alarms;
    for (int i = 0; i < 3; ++i) {
        alarms.push_back(std::make_unique<test_timer>([&, i] {
            at[i] = now();
            done.down();
        }));
        alarms.back()->set_deadline(deadline_after(now(), std::chrono::milliseconds(ms[i])));
        EXPECT_TRUE(rt.timers().arm(*alarms.back()));
    }
    done.wait();
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_FALSE(rt.timers().disarm(*alarms[i]));
        EXPECT_GE(at[i], alarms[i]->deadline());
    }
    test_timer far;
    far.set_deadline(no_deadline);
    EXPECT_TRUE(rt.timers().arm(far));
    EXPECT_TRUE(rt.timers().disarm(far));
    test_timer unused;
    EXPECT_TRUE(rt.timers().disarm(unused)) << "never armed: it has not fired and never will";
}

// Two bodies that hand over to each other for ever must not keep older work from its turn.
TEST_P(runtime_of, RUN_4_nothing_starves_behind_work_that_keeps_waking_each_other) {
    runtime rt(options());
    atomic<bool> stop{false};
    countdown done(3);
    std::vector<std::unique_ptr<call>> chains;
    for (unsigned i = 0; i < 2; ++i) {
        chains.push_back(nullptr);
    }
    for (unsigned i = 0; i < 2; ++i) {
        chains[i] = std::make_unique<call>([&, i] {
            if (stop.load(mo::relaxed)) {
                done.down();
            } else {
                rt.post(*chains[i]);
            }
        });
    }
    call last([&] { stop.store(true, mo::relaxed); });
    call first([&] {
        rt.post(*chains[0]);
        rt.post(*chains[1]);
        rt.get_executor().post_last(last);
        done.down();
    });
    rt.post(first);
    done.wait();
    SUCCEED();
}

// One worker is free. It runs a body that comes back at once, again and again, among older work of every kind.
TEST_P(runtime_of, RUN_4_RUN_131_at_the_latest_every_31st_body_is_older_work) {
    constexpr std::size_t own_count = 20;
    constexpr std::size_t behind_count = 3;
    runtime rt(options());
    countdown busy(GetParam() - 1);
    countdown over(1);
    std::vector<std::unique_ptr<call>> all;
    const auto make = [&all](std::function<void()> body) -> call& {
        return *all.emplace_back(std::make_unique<call>(std::move(body)));
    };
    for (unsigned i = 1; i < GetParam(); ++i) {
        rt.post(make([&] {
            busy.down();
            over.wait();
        }));
    }
    busy.wait();
    int bodies = 0;
    int last_older = 0;
    int longest = 0;
    std::size_t left = behind_count + 1;  // of those behind the others and from outside
    const auto older = [&](bool is_counted) {
        if (left == 0) {
            return;  // over: now others may run what is left
        }
        ++bodies;
        longest = std::max(longest, bodies - last_older);
        last_older = bodies;
        left -= is_counted ? 1 : 0;
    };
    countdown posted(1);
    call* again = nullptr;
    call& keen = make([&] {
        ++bodies;
        if (left == 0 || bodies == 10000) {
            over.down();
        } else {
            rt.post(*again);
        }
    });
    again = &keen;
    rt.post(make([&] {
        posted.wait();
        for (std::size_t i = 0; i < own_count; ++i) {
            rt.post(make([&] { older(false); }));
        }
        for (std::size_t i = 0; i < behind_count; ++i) {
            rt.get_executor().post_last(make([&] { older(true); }));
        }
        rt.post(keen);
    }));
    rt.post(make([&] { older(true); }));
    posted.down();
    over.wait();
    rt.shut_down();
    EXPECT_EQ(left, 0U);
    EXPECT_LE(longest, 31);
}

TEST_P(runtime_of, RUN_5_shut_down_runs_what_is_queued_and_what_that_posts) {
    int depth = 0;
    runtime rt(options());
    call third([&] { ++depth; });
    call second([&] {
        ++depth;
        EXPECT_TRUE(rt.post(third)) << "a worker may post while the runtime drains";
    });
    countdown closing(1);
    call first([&] {
        closing.wait();
        ++depth;
        EXPECT_TRUE(rt.post(second));
    });
    EXPECT_TRUE(rt.post(first));
    thread closer([&] { EXPECT_EQ(rt.shut_down().timers_left(), 0U); });
    call probe([] {});
    closing.down();
    closer.join();
    EXPECT_EQ(depth, 3);
    EXPECT_FALSE(rt.post(probe)) << "closed";
    EXPECT_EQ(rt.shut_down().timers_left(), 0U) << "a second call does nothing";
}

TEST_P(runtime_of, RUN_6_timers_left_at_the_end_are_counted_and_refused_afterwards) {
    runtime rt(options());
    test_timer a;
    test_timer b;
    a.set_deadline(deadline_after(now(), std::chrono::hours(1)));
    b.set_deadline(a.deadline());
    EXPECT_TRUE(rt.timers().arm(a));
    EXPECT_EQ(rt.shut_down().timers_left(), 1U);
    EXPECT_FALSE(rt.timers().arm(b));
    EXPECT_TRUE(rt.timers().disarm(a));
    EXPECT_EQ(a.count + b.count, 0);
}

TEST_P(runtime_of, RUN_7_says_who_and_where_it_is) {
    runtime rt(options().name("mill"));
    EXPECT_EQ(rt.name(), "mill");
    EXPECT_EQ(rt.get_executor().name(), "mill");
    EXPECT_EQ(rt.workers(), GetParam());
    EXPECT_EQ(runtime::this_worker(), runtime::no_worker);
    EXPECT_EQ(executor_ref(rt).get(), &rt.get_executor());
    EXPECT_EQ(rt.get_executor().blocking(), &rt.blocking());
    unsigned index = runtime::no_worker;
    countdown done(1);
    call c([&] {
        index = runtime::this_worker();
        done.down();
    });
    rt.post(c);
    done.wait();
    EXPECT_LT(index, GetParam());
}

INSTANTIATE_TEST_SUITE_P(workers, runtime_of, ::testing::Values(1U, 2U, 4U));

TEST(runtime, RUN_8_uses_the_processors_it_may_use_by_default) {
    runtime rt;
    EXPECT_GE(rt.workers(), 1U);
    EXPECT_LE(rt.workers(), hardware_threads());
}

// The item that a worker keeps for itself is taken away from it when its body goes on for long.
TEST(runtime, RUN_8_too_many_workers_are_refused) {
    try {
        runtime rt(runtime_options().workers(40'000).name("crowd"));
        FAIL() << "40 000 workers";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), std::errc::invalid_argument);
        EXPECT_NE(std::string(e.what()).find("runtime 'crowd': too many workers: 40000 (at most 32767)"), std::string::npos)
            << e.what();
    }
}
TEST(runtime, RUN_9_work_behind_a_long_body_is_run_by_another_worker) {
    runtime rt(runtime_options().workers(2));
    countdown helped(1);
    countdown done(1);
    call behind([&] { helped.down(); });
    call slow([&] {
        rt.post(behind);
        helped.wait();  // hangs for ever unless another worker takes it
        done.down();
    });
    rt.post(slow);
    done.wait();
    SUCCEED();
}

using runtime_death = ::testing::Test;

TEST(runtime_death, RUN_16_a_worker_cannot_end_its_own_runtime) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        {
            runtime rt(runtime_options().workers(2).name("mill"));
            call c([&] { rt.shut_down(); });
            rt.post(c);
            countdown(1).wait();
        },
        "runtime 'mill' .made at .*runtime_test.cpp:.*: a worker cannot wait for its own runtime to end");
}

}  // namespace
