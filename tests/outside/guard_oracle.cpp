// guard_count() never gives a number that was impossible: one guard is held all the time, others come and go.
#include <roost/shutdown/shutdown.hpp>

#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using roost::guard;
using roost::shutdown;

int failures = 0;

// Looks while `busy` runs on another thread. At every moment there are between `least` and `most` guards.
template <class Busy>
void look(const char* what, const shutdown& root, std::size_t least, std::size_t most, Busy busy) {
    std::atomic<bool> over{false};
    std::thread other([&] { busy(over); });
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
    long looks = 0;
    long wrong = 0;
    std::size_t example = 0;
    while ((looks & 63) != 0 || std::chrono::steady_clock::now() < until) {
        const std::size_t n = root.guard_count();
        ++looks;
        if (n < least || n > most) {
            ++wrong;
            example = n;
        }
    }
    over.store(true);
    other.join();
    if (wrong != 0) {
        std::printf("%s: %ld of %ld looks gave an impossible number, one of them %zu instead of %zu to %zu\n", what, wrong,
                    looks, example, least, most);
        ++failures;
    }
}

// The nodes stay, the guards come and go.
void fixed(bool stopped, int depth) {
    const shutdown root("root");
    const shutdown held = root.child("held");
    shutdown busy = root.child("busy");
    for (int i = 1; i < depth; ++i) {
        busy = busy.child("busy");
    }
    const guard g = held.guard();
    if (stopped) {
        root.shut_down();
    }
    const std::string what = std::string(stopped ? "stopped" : "running") + ", fixed nodes, depth " + std::to_string(depth);
    look(what.c_str(), root, 1, 2, [&](const std::atomic<bool>& over) {
        while (!over.load()) {
            const guard x = busy.guard();
        }
    });
}

// Nodes come and go with their guards.
void churning(bool stopped, int depth) {
    const shutdown root("root");
    const shutdown held = root.child("held");
    const guard g = held.guard();
    const guard own = root.guard();
    if (stopped) {
        root.shut_down();
    }
    const std::string what =
        std::string(stopped ? "stopped" : "running") + ", churning nodes, depth " + std::to_string(depth);
    look(what.c_str(), root, 2, 3, [&](const std::atomic<bool>& over) {
        while (!over.load()) {
            shutdown c = root.child("c");
            for (int i = 1; i < depth; ++i) {
                c = c.child("c");
            }
            const guard x = c.guard();
        }
    });
}

// A striped node whose guards are made by one thread and dropped by another.
void handed_over() {
    const shutdown root("root");
    root.expect_contention();
    const guard held = root.guard();
    std::atomic<guard*> box{nullptr};
    look("striped, handed over", root, 1, 4, [&](const std::atomic<bool>& over) {
        std::thread dropper([&] {
            while (!over.load()) {
                const std::unique_ptr<guard> dropped(box.exchange(nullptr));
            }
        });
        while (!over.load()) {
            auto made = std::make_unique<guard>(root.guard());
            guard* none = nullptr;
            while (!over.load()) {
                if (box.compare_exchange_weak(none, made.get())) {
                    static_cast<void>(made.release());  // the dropper's from now on
                    break;
                }
                none = nullptr;
            }
        }
        dropper.join();
        const std::unique_ptr<guard> rest(box.exchange(nullptr));
    });
}

}  // namespace

int main() {
    alarm(60);
    for (const bool stopped : {false, true}) {
        for (int depth = 1; depth <= 4; ++depth) {
            fixed(stopped, depth);
            churning(stopped, depth);
        }
    }
    handed_over();
    return failures == 0 ? 0 : 1;
}
