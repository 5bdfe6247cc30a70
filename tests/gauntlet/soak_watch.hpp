#pragma once

// Keeps an episode's seed from being lost: before a batch of episodes its first seed is written to the standard error stream,
// and the very one when an episode aborts or does not end.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace soak {

inline constexpr long batch = 64;

inline void announce(std::uint64_t seed) {
    std::fprintf(stderr, "  soak: from ROOST_SOAK_SEED=%llu on, ROOST_SOAK_EPISODES=%ld\n",
                 static_cast<unsigned long long>(seed), batch);
    std::fflush(stderr);
}

class watchdog {
public:
    watchdog() : previous_(std::signal(SIGABRT, &aborted)), watcher_([this] { watch(); }) {}
    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;
    ~watchdog() {
        {
            const std::lock_guard held(lock_);
            over_ = true;
        }
        changed_.notify_one();
        watcher_.join();
        std::signal(SIGABRT, previous_);
    }

    // An episode, from here to the end of this object. `what` says what it is doing, asked by another thread.
    class shift {
    public:
        shift(watchdog& by, std::uint64_t seed, std::function<std::string()> what) : by_(&by) {
            const std::lock_guard held(by.lock_);
            current().store(seed);
            by.what_ = std::move(what);
            by.since_ = std::chrono::steady_clock::now();
        }
        shift(const shift&) = delete;
        shift& operator=(const shift&) = delete;
        ~shift() {
            const std::lock_guard held(by_->lock_);
            by_->what_ = nullptr;
        }

    private:
        watchdog* by_;
    };

private:
    static constexpr std::chrono::seconds limit{300};  // a hang, however slow the build and the machine

    static std::atomic<std::uint64_t>& current() {
        static std::atomic<std::uint64_t> seed{0};
        return seed;
    }
    // Only what a signal handler may do.
    static void aborted(int) {
        constexpr std::string_view before = "  soak: aborted in ROOST_SOAK_SEED=";
        char text[before.size() + 21];
        std::size_t at = before.copy(text, before.size());
        char digits[20];
        std::size_t n = 0;
        for (std::uint64_t left = current().load(); n == 0 || left > 0; left /= 10) {
            digits[n++] = static_cast<char>('0' + left % 10);
        }
        while (n > 0) {
            text[at++] = digits[--n];
        }
        text[at++] = '\n';
        static_cast<void>(!::write(STDERR_FILENO, text, at));
        std::signal(SIGABRT, SIG_DFL);
        std::raise(SIGABRT);
    }
    void watch() {
        std::unique_lock held(lock_);
        while (!over_) {
            changed_.wait_for(held, std::chrono::seconds(1));
            if (what_ && std::chrono::steady_clock::now() - since_ > limit) {
                std::fprintf(stderr, "  soak: an episode does not end\n%s\n", what_().c_str());
                std::abort();
            }
        }
    }

    void (*previous_)(int);
    std::mutex lock_;
    std::condition_variable changed_;
    std::function<std::string()> what_;
    std::chrono::steady_clock::time_point since_;
    bool over_ = false;
    std::thread watcher_;  // the last: it uses the others
};

}  // namespace soak
