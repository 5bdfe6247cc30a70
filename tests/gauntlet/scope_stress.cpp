// Scenarios 8 and 9: the end of a tree of work, its depth and width.

#include <roost/base/atomic.hpp>
#include <roost/shutdown/shutdown.hpp>

#include "../sync/coroutines.hpp"
#include "../tree/tree_support.hpp"
#include "quiet.hpp"
#include "two_at_once.hpp"

#include <gtest/gtest.h>

#include <pthread.h>

#include <chrono>
#include <functional>
#include <vector>

namespace {

using namespace roost;
using namespace roost::seam;
using gauntlet::load;
using gauntlet::quiet;
using tree_support::make_child;
using tree_support::make_root;
using tree_support::ref;

// The joiner frees the scope at the instant the last unit goes.
TEST(gauntlet_scope, GAUNTLET_8_TREE_19_the_joiner_frees_at_once) {
    const quiet q("scenario 8");
    // Two threads meet in every round, which takes long where they share a core: all of them only when there is time.
    const long rounds = load(gauntlet::from_environment("ROOST_DEEP", 0) != 0 ? 10'000'000 : 1'000'000);
    ref scope;
    ref child;
    int destroyed = 0;
    tree_support::probe* held = nullptr;
    testing_support::two_at_once race([&](long) {
        scope = make_root();
        child = make_child(*scope);
        scope->destroyed = &destroyed;
        child->destroyed = &destroyed;
        child->enter();
        held = child.get();
    });
    race.run(
        rounds,
        [&] {
            scope->close();
            for (int spin = 0; !scope->is_closed(); ++spin) {
                spin < 100 ? spin_hint() : yield_thread();
            }
            child = {};
            scope = {};
        },
        [&] { held->leave(); }, [] {});
    EXPECT_EQ(destroyed, 2 * rounds);
    q.say("%ld scopes closed, joined and freed", rounds);
}

constexpr std::size_t small_stack = gauntlet::sanitized ? 1024 * 1024 : 64 * 1024;

void on_a_small_stack(const std::function<void()>& body) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, small_stack), 0);
    pthread_t id{};
    ASSERT_EQ(pthread_create(
                  &id, &attributes,
                  +[](void* f) -> void* {
                      (*static_cast<const std::function<void()>*>(f))();
                      return nullptr;
                  },
                  const_cast<std::function<void()>*>(&body)),
              0);
    pthread_join(id, nullptr);
    pthread_attr_destroy(&attributes);
}

sync_testing::fire count_completion(shutdown_completion c, int& times) {
    co_await c;
    ++times;
}

TEST(gauntlet_scope, GAUNTLET_9_the_last_guard_of_a_deep_chain_and_of_a_wide_tree) {
    const quiet q("scenario 9");
    const int n = gauntlet::sanitized ? 20'000 : 100'000;
    for (const bool deep : {true, false}) {
        int completions = 0;
        double took = 0;
        {
            shutdown root("root");
            std::vector<guard> guards;
            {
                shutdown at = root;
                for (int i = 0; i < n; ++i) {
                    const shutdown child = (deep ? at : root).child("below");
                    if (!deep || i == n - 1) {
                        guards.push_back(child.guard());
                    }
                    at = child;
                }
            }
            count_completion(root.shut_down(), completions);
            EXPECT_EQ(completions, 0);
            const auto before = std::chrono::steady_clock::now();
            on_a_small_stack([&] { guards.clear(); });  // nodes go with their last guard
            took = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
            EXPECT_EQ(completions, 1);
            EXPECT_TRUE(root.state() == shutdown_state::complete);
            EXPECT_EQ(root.guard_count(), 0U);
        }
        q.say("%s of %d nodes completed %d time on %zu KB of stack in %.1f ms", deep ? "chain" : "fan", n, completions,
              small_stack / 1024, took);
    }
}

}  // namespace
