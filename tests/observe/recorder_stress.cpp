// Workers and threads that come and go record, while others copy, write, start and stop: every copy is whole (OBS-183, OBS-184).
#include <roost/observe/recorder.hpp>

#include <roost/exec/detail/flight_recorder.hpp>
#include <roost/observe/chrome_trace.hpp>

#include "recorded_jobs.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

using namespace roost;
using namespace roost::observe;
using namespace testing_support;
using detail::event_kind;
using detail::flight_recorder;

namespace {

std::chrono::duration<double> limit() {
    const char* text = std::getenv("ROOST_STRESS_SECONDS");
    return std::chrono::duration<double>(text == nullptr ? 1 : std::atof(text));
}

// The second word says what the first has to be.
void write_checked(std::uint64_t thread, std::uint64_t n) {
    const std::uint64_t mixed = (thread << 32U | n) * 0x9e3779b97f4a7c15U;
    flight_recorder::write(event_kind::timer_fired, reinterpret_cast<const void*>(mixed & 0xffffffffffffU), mixed, ~mixed);
}
bool is_whole(const recorded_event& e) { return e.second() == ~e.first() && e.subject() == (e.first() & 0xffffffffffffU); }

TEST(recorder_stress, OBS_183_copies_are_whole_while_writers_go_around) {
    recorder::stop();
    recorder::start(recorder_options().records(64).threads(8));
    std::atomic<bool> over{false};
    std::vector<std::thread> writers;
    for (std::uint64_t t = 0; t < 3; ++t) {
        writers.emplace_back([&over, t] {
            for (std::uint64_t n = 0; !over; ++n) {
                write_checked(t, n);
            }
        });
    }
    std::uint64_t seen = 0;
    std::uint64_t lost = 0;
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < limit()) {
        const recording r = recorder::snapshot();
        ASSERT_EQ(r.problem(), "");
        for (const recorded_event& e : r.events()) {
            if (e.kind() == recorded_kind::timer_fired) {
                ASSERT_TRUE(is_whole(e)) << e.subject() << " " << e.first() << " " << e.second();
                ++seen;
            }
        }
        lost += r.lost();
    }
    over = true;
    for (std::thread& w : writers) {
        w.join();
    }
    recorder::stop();
    EXPECT_GT(seen, 0U);
    EXPECT_GT(lost, 0U) << "the writers went around";
}

// Short-lived threads take rings over; recordings begin and end; a file is written again and again.
TEST(recorder_stress, OBS_184_threads_and_recordings_come_and_go) {
    std::atomic<bool> over{false};
    std::thread starter([&over] {
        for (std::size_t n = 0; !over; ++n) {
            recorder::start(recorder_options().records(std::size_t(16) << n % 4).threads(1 + n % 6));
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            recorder::stop();
        }
    });
    std::vector<std::thread> jobs;
    for (int t = 0; t < 2; ++t) {
        jobs.emplace_back([&over, t] {
            for (int n = 0; !over; ++n) {
                run_jobs(5, "job of " + std::to_string(t) + ", run " + std::to_string(n % 100));
                std::thread([n] { write_checked(7, static_cast<std::uint64_t>(n)); }).join();
            }
        });
    }
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    const auto start = std::chrono::steady_clock::now();
    std::size_t traces = 0;
    while (std::chrono::steady_clock::now() - start < limit()) {
        const recording r = recorder::snapshot();
        ASSERT_EQ(r.problem(), "");
        for (const recorded_event& e : r.events()) {
            // Those of timers have another second word.
            ASSERT_TRUE(e.kind() != recorded_kind::timer_fired || e.second() == 0 || is_whole(e));
            ASSERT_LT(e.thread(), r.threads().size());
        }
        traces += to_chrome_trace(r).empty() ? 0 : 1;
        EXPECT_FALSE(recorder::write_to(nowhere).error());
    }
    ::close(nowhere);
    over = true;
    starter.join();
    for (std::thread& t : jobs) {
        t.join();
    }
    recorder::stop();
    EXPECT_GT(traces, 0U);
}

}  // namespace
