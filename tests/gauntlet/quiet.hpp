#pragma once

// What every scenario of the gauntlet starts and ends with: a load that fits the build, and proof that nothing is left.

#include "sanitized.hpp"

#include <gtest/gtest.h>

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace gauntlet {

inline double from_environment(const char* name, double otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::atof(text);
}

// The full load in an optimised build or with ROOST_DEEP=1, a tenth under sanitizers (ROOST_STRESS_SCALE, as ./check sets it),
// a few hundredths in debug and jitter builds.
inline double share_of_load() {
    const double scale = from_environment("ROOST_STRESS_SCALE", sanitized ? 0.1 : 1.0);
#if defined(__OPTIMIZE__) && !defined(ROOST_SEAM_JITTER)
    return scale;
#else
    return sanitized || from_environment("ROOST_DEEP", 0) != 0 ? scale : scale * 0.02;
#endif
}
inline long load(double full, long least = 1) {
    const long n = static_cast<long>(full * share_of_load());
    return n < least ? least : n;
}

// Counts objects: how many were made, how many are alive.
class census {
public:
    void born() noexcept { made_.fetch_add(1, std::memory_order_relaxed); }
    void died() noexcept { destroyed_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] long made() const noexcept { return made_.load(); }
    [[nodiscard]] long alive() const noexcept { return made_.load() - destroyed_.load(); }

private:
    std::atomic<long> made_{0};
    std::atomic<long> destroyed_{0};
};
class counted {
public:
    explicit counted(census& in) noexcept : in_(&in) { in_->born(); }
    counted(const counted& other) noexcept : in_(other.in_) { in_->born(); }
    counted& operator=(const counted&) = delete;
    ~counted() { in_->died(); }

private:
    census* in_;
};

// Remembers threads, descriptors and memory; its destructor wants them back as they were.
class quiet {
public:
    explicit quiet(const char* scenario) : scenario_(scenario) {
        std::thread([] {}).join();  // what a sanitizer starts with the first thread is there from now on
        ::mallopt(M_ARENA_MAX, 1);  // malloc_trim() gives back the end of this arena only
        ::mallopt(M_TRIM_THRESHOLD, 128 << 10);
        ::malloc_trim(0);
        threads_ = count("/proc/self/task");
        for (int look = 0; look < 100; ++look) {  // a joined thread may be listed for a moment longer
            std::this_thread::yield();
            threads_ = std::min(threads_, count("/proc/self/task"));
        }
        descriptors_ = count("/proc/self/fd");
        pages_ = resident();
    }
    quiet(const quiet&) = delete;
    quiet& operator=(const quiet&) = delete;
    ~quiet() {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (count("/proc/self/task") > threads_ && std::chrono::steady_clock::now() < limit) {
            std::this_thread::yield();
        }
        EXPECT_LE(count("/proc/self/task"), threads_) << scenario_ << ": threads";
        if (!under_tsan) {  // it opens a pipe to its symboliser, also for what is suppressed
            EXPECT_EQ(count("/proc/self/fd"), descriptors_) << scenario_ << ": descriptors";
        }
        ::malloc_trim(0);
        if (!sanitized) {  // they keep freed memory on purpose
            EXPECT_LE(resident(), pages_ + (16L << 20)) << scenario_ << ": resident memory";
        }
    }
    // Everything made is gone.
    void expect_none(const census& c, const char* what) const {
        EXPECT_EQ(c.alive(), 0) << scenario_ << ": " << what << " left of " << c.made();
    }
    [[gnu::format(printf, 2, 3)]] void say(const char* format, ...) const {
        std::va_list arguments;
        va_start(arguments, format);
        std::printf("  %s: ", scenario_);
        std::vprintf(format, arguments);
        std::printf("\n");
        va_end(arguments);
    }
    [[nodiscard]] static long resident() {
        std::ifstream in("/proc/self/statm");
        long total = 0;
        long pages = 0;
        in >> total >> pages;
        return pages * 4096;
    }

private:
    static long count(const char* folder) {
        return static_cast<long>(
            std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
    }
    const char* scenario_;
    long threads_;
    long descriptors_;
    long pages_;
};

}  // namespace gauntlet
