// Threads of other libraries against the ends of executors and lanes; sandboxes, full pipes and missing descriptors.

#include <roost/base/detail/write_stderr.hpp>
#include <roost/flow/closing_executor.hpp>
#include <roost/runtime/blocking.hpp>
#include <roost/runtime/loop.hpp>
#include <roost/runtime/run.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/testing/manual_executor.hpp>

#include "../runtime/fixture.hpp"
#include "quiet.hpp"
#include "without_membarrier.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace runtime_tests;
using gauntlet::load;
using gauntlet::quiet;

// A word that its waiter may free as soon as it is set.
class signal_once {
public:
    void set() noexcept {
        word_.store(1, mo::release);
        wake_on(&word_, 1);
    }
    void wait() noexcept {
        while (word_.load(mo::acquire) == 0) {
            wait_on(word_, 0);
        }
    }

private:
    atomic<std::uint32_t> word_{0};
};

class ends_of : public ::testing::TestWithParam<unsigned> {};

// What a foreign thread posted frees the runtime: every round ends, and sanitizers see nothing.
TEST_P(ends_of, GAUNTLET_RUN_150_the_last_post_of_a_foreign_thread) {
    const quiet q("the last post of a foreign thread");
    for (long round = load(400); round > 0; --round) {
        std::optional<runtime> rt(std::in_place, runtime_options().workers(GetParam()));
        signal_once done;
        call others([] {});
        call last([&] { done.set(); });
        thread foreign([&to = *rt, &others, &last] {
            EXPECT_TRUE(to.post(others));
            EXPECT_TRUE(to.post(last));
        });
        done.wait();
        rt.reset();
        foreign.join();
    }
}

TEST_P(ends_of, GAUNTLET_RUN_150_the_last_timer_of_a_foreign_thread) {
    const quiet q("the last timer of a foreign thread");
    for (long round = load(200); round > 0; --round) {
        std::optional<runtime> rt(std::in_place, runtime_options().workers(GetParam()));
        signal_once done;
        test_timer last([&] { done.set(); });
        last.set_deadline(now());
        thread foreign([&at = *rt, &last] { EXPECT_TRUE(at.timers().arm(last)); });
        done.wait();
        rt.reset();
        foreign.join();
    }
}

// Sixteen threads post while the runtime ends: what was taken has run by the end, the rest was refused.
TEST_P(ends_of, GAUNTLET_RUN_150_a_flood_at_the_end) {
    const quiet q("a flood at the end");
    for (long round = load(20); round > 0; --round) {
        runtime rt(runtime_options().workers(GetParam()));
        atomic<long> taken{0};
        atomic<long> ran{0};
        std::vector<std::unique_ptr<call>> calls;
        for (int i = 0; i < 16 * 50; ++i) {
            calls.push_back(std::make_unique<call>([&] { ran.fetch_add(1, mo::relaxed); }));
        }
        std::vector<thread> posters;
        for (int p = 0; p < 16; ++p) {
            posters.emplace_back([&, p] {
                for (int i = 0; i < 50; ++i) {
                    taken.fetch_add(rt.post(*calls[static_cast<std::size_t>(p * 50 + i)]) ? 1 : 0, mo::relaxed);
                }
            });
        }
        static_cast<void>(rt.shut_down());
        for (thread& t : posters) {
            t.join();
        }
        EXPECT_EQ(taken.load(mo::relaxed), ran.load(mo::relaxed));
    }
}

// Three at once, while a lane and timers are busy: all return to a runtime that has ended.
TEST_P(ends_of, GAUNTLET_RUN_153_three_threads_end_it) {
    const quiet q("three threads end it");
    for (long round = load(100); round > 0; --round) {
        runtime rt(runtime_options().workers(GetParam()));
        atomic<int> ran{0};
        struct job : blocking_work {
            explicit job(atomic<int>& n)
                : blocking_work(+[](work& w) noexcept { static_cast<job&>(w).n_->fetch_add(1, mo::acq_rel); }), n_(&n) {}
            atomic<int>* n_;
        } slow(ran);
        EXPECT_TRUE(rt.blocking().submit(slow));
        std::vector<thread> enders;
        for (int i = 0; i < 3; ++i) {
            enders.emplace_back([&] {
                static_cast<void>(rt.shut_down());
                EXPECT_EQ(ran.load(mo::acquire), 1);
            });
        }
        for (thread& t : enders) {
            t.join();
        }
    }
}

task<int> through_the_lane(int rounds) {
    int sum = 0;
    for (int i = 0; i < rounds; ++i) {
        sum += co_await blocking([] { return 1; });
        co_await sleep_for(std::chrono::microseconds(100));
    }
    co_return sum;
}

// A hundred wakes through lane, timers and workers after the kernel has begun to refuse: none is lost.
TEST_P(ends_of, GAUNTLET_RUN_159_in_a_sandbox_that_came_later) {
    if (!has_heavy_barrier()) {
        GTEST_SUCCEED() << "this kernel has no membarrier";
        return;
    }
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        runtime rt(runtime_options().workers(GetParam()));
        bool fine = run(rt, through_the_lane(5)) == 5;
        if (!without_membarrier::begin()) {
            _exit(without_membarrier::not_possible);
        }
        fine = fine && run(rt, through_the_lane(100)) == 100;
        static_cast<void>(rt.shut_down());
        _exit(fine ? without_membarrier::held : without_membarrier::broken);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(without_membarrier::is_fine(status)) << status;
}

// A child makes its own runtime while four threads of its parent come and go: 50 of 50 children end well.
TEST_P(ends_of, GAUNTLET_RUN_160_children_with_a_runtime_of_their_own) {
    if (gauntlet::sanitized) {
        GTEST_SKIP() << "ThreadSanitizer lets no child of several threads start one; AddressSanitizer's own lock, which an "
                        "ending thread takes, stays locked in a child that is forked meanwhile";
    }
    atomic<bool> over{false};
    std::vector<thread> churn;
    for (int i = 0; i < 4; ++i) {
        churn.emplace_back([&] {
            while (!over.load(mo::acquire)) {
                thread([] { static_cast<void>(thread_index()); }).join();
            }
        });
    }
    for (int i = 0; i < 50; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(60);
            const int sum = run(through_the_lane(2), runtime_options().workers(GetParam()));
            _exit(sum == 2 ? 0 : 1);
        }
        int status = -1;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0) << "child " << i;
    }
    over.store(true, mo::release);
    for (thread& t : churn) {
        t.join();
    }
}

void burn_past_budget() {
    for (const time_point until = deadline_after(now(), std::chrono::milliseconds(30)); now() < until;) {}
}
task<int> overruns_and_beats() {
    int beats = 0;
    for (; beats < 20; ++beats) {
        burn_past_budget();
        co_await sleep_for(std::chrono::milliseconds(1));
    }
    while (roost::detail::stderr_texts_dropped() == 0) {
    }  // until the watcher has had its turn, which a busy machine may give it late
    co_return beats;
}

// Standard error full, and not one descriptor left to open it anew: twenty of twenty timers fire.
TEST_P(ends_of, GAUNTLET_RUN_158_nothing_reads_and_no_descriptor_is_left) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
        const std::array<char, 4096> junk{};
        while (::write(ends[1], junk.data(), junk.size()) > 0) {}
        ::fcntl(ends[1], F_SETFL, 0);
        ::dup2(ends[1], 2);
        const rlimit none{3, 3};
        ::setrlimit(RLIMIT_NOFILE, &none);
        const int beats =
            run(overruns_and_beats(), runtime_options().workers(GetParam()).soft_budget(std::chrono::milliseconds(10)));
        _exit(beats == 20 && roost::detail::stderr_texts_dropped() > 0 ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    ::close(ends[0]);
    ::close(ends[1]);
}

INSTANTIATE_TEST_SUITE_P(workers, ends_of, ::testing::Values(1U, 4U));

TEST(ends, GAUNTLET_RUN_150_a_loop_that_is_stopped_or_closed_and_goes) {
    const quiet q("a loop that goes");
    for (long round = load(2000); round > 0; --round) {
        std::optional<loop> l(std::in_place);
        call last([&at = *l] { at.stop(); });
        thread foreign([&at = *l, &last, round] {
            switch (round % 3) {
                case 0: at.stop(); break;
                case 1: at.close(); break;
                default: EXPECT_TRUE(at.post(last)); break;
            }
        });
        l->run();
        l.reset();
        foreign.join();
    }
}

TEST(ends, GAUNTLET_RUN_150_a_manual_executor_that_goes) {
    const quiet q("a manual executor that goes");
    for (long round = load(2000); round > 0; --round) {
        std::optional<roost::testing::manual_executor> at(std::in_place);
        bool done = false;
        call last([&] { done = true; });
        thread foreign([&to = *at, &last] { EXPECT_TRUE(to.post(last)); });
        while (!done) {
            at->run_all();
        }
        at.reset();
        foreign.join();
    }
}

// A foreign thread wakes what runs there while its owner closes it, a hundred times on two workers.
TEST(ends, GAUNTLET_JOB_130_a_closing_executor_with_two_closers) {
    const quiet q("two closers");
    runtime rt(runtime_options().workers(2));
    for (long round = load(100); round > 0; --round) {
        event e;
        auto own = std::make_unique<closing_executor>(rt, roost::node_name("own"));
        own->launch("waits", [](event& at) -> task<> { co_await at.wait(); }(e));
        thread foreign([&] { e.set(); });
        thread other([&] { own->close_blocking(); });
        own->close_blocking();
        other.join();
        own.reset();
        foreign.join();
    }
}

TEST(ends, GAUNTLET_JOB_130_an_owned_scope_with_two_closers) {
    const quiet q("two closers of a scope");
    runtime rt(runtime_options().workers(2));
    for (long round = load(1000); round > 0; --round) {
        event e;
        auto own = std::make_unique<owned_scope>(rt, roost::node_name("own"));
        own->launch("waits", [](event& at) -> task<> { co_await at.wait(); }(e));
        thread foreign([&] { e.set(); });
        thread other([&] { own->close_blocking(); });
        own->close_blocking();
        other.join();
        EXPECT_TRUE(own->is_closed());
        own.reset();
        foreign.join();
    }
}

}  // namespace
