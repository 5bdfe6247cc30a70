// guard_count() against an oracle: at every moment there are between so many and so many guards, and every look has to say one of
// these numbers. Fixed nodes, nodes that come and go, a striped node whose guards change threads; one to four levels; before and after
// the stop. ROOST_STRESS_SECONDS sets how long, ROOST_STRESS_LOOKS how many looks instead (100 million: ./check --deep).

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

namespace {

using roost::guard;
using roost::shutdown;

constexpr int worlds = 17;

double seconds_each() {
    const char* text = std::getenv("ROOST_STRESS_SECONDS");
    return (text == nullptr ? 2.0 : std::atof(text)) / worlds;
}
std::uint64_t looks_each() {
    const char* text = std::getenv("ROOST_STRESS_LOOKS");
    return text == nullptr ? 0 : (std::strtoull(text, nullptr, 10) + worlds - 1) / worlds;
}

struct looked {
    std::uint64_t looks = 0;
    std::uint64_t impossible = 0;
};

template <class Busy>
looked look(const std::string& what, const shutdown& root, std::size_t least, std::size_t most, Busy busy) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_each());
    const std::uint64_t wanted = looks_each();
    std::atomic<bool> over{false};
    std::thread other([&] { busy(over); });
    looked r;
    while (wanted != 0 ? r.looks < wanted : r.looks % 16 != 0 || std::chrono::steady_clock::now() < end) {
        const std::size_t n = root.guard_count();
        ++r.looks;
        if (n < least || n > most) {
            if (r.impossible++ == 0) {
                ADD_FAILURE() << what << ": " << n << " instead of " << least << " to " << most;
            }
        }
    }
    over.store(true);
    other.join();
    EXPECT_EQ(root.guard_count(), least) << what << ": exact at rest";
    std::printf("  %-32s %12llu looks, %llu impossible\n", what.c_str(), static_cast<unsigned long long>(r.looks),
                static_cast<unsigned long long>(r.impossible));
    return r;
}

std::string called(const char* what, int depth, bool stopped) {
    return std::string(what) + ", depth " + std::to_string(depth) + (stopped ? ", stopped" : "");
}

looked fixed_nodes(int depth, bool stopped) {
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
    return look(called("fixed nodes", depth, stopped), root, 1, 2, [&](const std::atomic<bool>& over) {
        while (!over.load(std::memory_order_relaxed)) {
            const guard x = busy.guard();
        }
    });
}

// With guards of the root's own, which are counted beside its children's.
looked churning_nodes(int depth, bool stopped) {
    const shutdown root("root");
    const shutdown held = root.child("held");
    const guard g = held.guard();
    const guard own = root.guard();
    if (stopped) {
        root.shut_down();
    }
    return look(called("churning nodes", depth, stopped), root, 2, 4, [&](const std::atomic<bool>& over) {
        while (!over.load(std::memory_order_relaxed)) {
            shutdown c = root.child("c");
            for (int i = 1; i < depth; ++i) {
                c = c.child("c");
            }
            const guard x = c.guard();
            const guard on_root = root.guard();
        }
    });
}

looked handed_over() {
    const shutdown root("root");
    root.expect_contention();
    const guard held = root.guard();
    std::atomic<guard*> box{nullptr};
    return look("striped, handed over", root, 1, 4, [&](const std::atomic<bool>& over) {
        std::thread dropper([&] {
            while (!over.load(std::memory_order_relaxed)) {
                const std::unique_ptr<guard> dropped(box.exchange(nullptr));
            }
        });
        while (!over.load(std::memory_order_relaxed)) {
            guard* made = std::make_unique<guard>(root.guard()).release();
            guard* none = nullptr;
            while (made != nullptr && !box.compare_exchange_weak(none, made)) {
                none = nullptr;
                if (over.load(std::memory_order_relaxed)) {
                    delete made;  // NOLINT(cppcoreguidelines-owning-memory): the box is one word
                    made = nullptr;
                }
            }
        }
        dropper.join();
        const std::unique_ptr<guard> rest(box.exchange(nullptr));
    });
}

TEST(guard_count_stress, SHUT_5_never_an_impossible_number) {
    looked all;
    const auto add = [&all](looked r) {
        all.looks += r.looks;
        all.impossible += r.impossible;
    };
    for (const bool stopped : {false, true}) {
        for (int depth = 1; depth <= 4; ++depth) {
            add(fixed_nodes(depth, stopped));
            add(churning_nodes(depth, stopped));
        }
    }
    add(handed_over());
    EXPECT_EQ(all.impossible, 0U);
    std::printf("  %llu looks, %llu impossible\n", static_cast<unsigned long long>(all.looks),
                static_cast<unsigned long long>(all.impossible));
}

}  // namespace
