#include <roost/testing/manual_executor.hpp>
#include <roost/tree/callback.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

#include <mutex>

namespace {

using roost::callback;
using roost::level;
using roost::token;
using roost::ext::inline_callback;
using roost::testing::manual_executor;
using namespace tree_support;

static_assert(!std::is_copy_constructible_v<callback> && std::is_nothrow_move_constructible_v<callback>);

TEST(callback, TREE_40_runs_once_before_or_after_the_raise) {
    ref root = make_root();
    int before = 0;
    int after = 0;
    int never = 0;
    inline_callback a(token(*root), level::stop, [&] { ++before; });
    inline_callback n(token(*root), level::abort, [&] { ++never; });
    root->cancel();
    root->cancel();
    inline_callback b(token(*root), level::cancel, [&] { ++after; });
    EXPECT_EQ(before, 1);
    EXPECT_EQ(after, 1);
    EXPECT_EQ(never, 0);
}

TEST(callback, TREE_40_waits_for_the_effect_not_the_request) {
    ref root = make_root();
    int calls = 0;
    inline_callback a(token(*root), level::cancel, [&] { ++calls; });
    ASSERT_TRUE(root->enter_ignore());
    root->cancel();
    EXPECT_EQ(calls, 0);
    root->leave_ignore();
    EXPECT_EQ(calls, 1);
}

TEST(callback, TREE_40_a_callback_below_is_reached) {
    ref root = make_root();
    ref child = make_child(*root), leaf = make_child(*child);
    int calls = 0;
    std::vector<std::unique_ptr<inline_callback<std::function<void()>>>> many;
    for (int i = 0; i < 100; ++i) {
        many.push_back(
            std::make_unique<inline_callback<std::function<void()>>>(token(*leaf), level::cancel, [&] { ++calls; }));
    }
    root->cancel();
    EXPECT_EQ(calls, 100);
}

TEST(callback, TREE_42_may_destroy_itself_a_sibling_and_its_node) {
    ref root = make_root();
    ref child = make_child(*root);
    int destroyed = 0;
    child->destroyed = &destroyed;
    using fn = inline_callback<std::function<void()>>;
    std::unique_ptr<fn> self, next, previous;
    int calls = 0;
    int sibling_calls = 0;
    previous = std::make_unique<fn>(token(*child), level::cancel, [&] { ++sibling_calls; });
    self = std::make_unique<fn>(token(*child), level::cancel, [&] {
        ++calls;
        previous.reset();
        next.reset();
        root->cancel();  // again
        child = {};
        self.reset();
    });
    next = std::make_unique<fn>(token(*child), level::cancel, [&] { ++sibling_calls; });
    root->cancel();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(sibling_calls, 2) << "also the one that was destroyed before the raise came to it";
    EXPECT_EQ(destroyed, 1);
    EXPECT_FALSE(root->has_members());
}

TEST(callback, TREE_42_may_drop_the_last_handle_of_the_raised_node) {
    int destroyed = 0;
    ref root = make_root();
    root->destroyed = &destroyed;
    auto* raw = root.get();
    std::optional<inline_callback<std::function<void()>>> cb;
    cb.emplace(token(*root), level::stop, std::function<void()>([&] {
                   root = {};
                   cb.reset();
               }));
    raw->stop();
    EXPECT_EQ(destroyed, 1);
}

TEST(callback, TREE_42_may_add_children_to_the_dying_scope) {
    ref root = make_root();
    std::vector<ref> made;
    inline_callback a(token(*root), level::cancel, [&] {
        for (int i = 0; i < 3; ++i) {
            made.push_back(make_child(*root));
        }
    });
    root->cancel();
    for (const ref& c : made) {
        EXPECT_EQ(c->level_now(), level::cancel);
        EXPECT_EQ(c->raised_count, 0);
    }
    EXPECT_EQ(made.size(), 3U);
}

TEST(callback, TREE_44_user_callbacks_are_posted) {
    manual_executor exec;
    ref root = make_root();
    int calls = 0;
    callback cb(token(*root), level::cancel, exec, [&] { ++calls; });
    root->cancel();
    EXPECT_EQ(calls, 0);
    exec.run_all();
    EXPECT_EQ(calls, 1);
    callback late(token(*root), level::cancel, exec, [&] { ++calls; });
    EXPECT_EQ(calls, 1);
    exec.run_all();
    EXPECT_EQ(calls, 2);
}

TEST(callback, TREE_45_removed_before_it_ran) {
    manual_executor exec;
    ref root = make_root();
    int calls = 0;
    auto canary = std::make_shared<int>(0);
    callback cb(token(*root), level::cancel, exec, [&calls, canary] { ++calls; });
    root->cancel();
    cb.reset();
    exec.run_all();
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(canary.use_count(), 1);
    callback unused(token(*make_root()), level::cancel, exec, [&calls, canary] { ++calls; });
    callback moved = std::move(unused);
    EXPECT_FALSE(unused);
    moved = callback();
    EXPECT_EQ(canary.use_count(), 1);
    callback nothing(token(), level::stop, exec, [canary] {});
}

TEST(callback, TREE_45_a_posted_callback_may_destroy_itself) {
    manual_executor exec;
    ref root = make_root();
    callback cb;
    int calls = 0;
    cb = callback(token(*root), level::stop, exec, [&] {
        ++calls;
        cb.reset();
    });
    root->stop();
    exec.run_all();
    EXPECT_EQ(calls, 1);
    roost::ext::inline_executor here;  // an explicit choice: on the raiser's stack
    ref other = make_root();
    cb = callback(token(*other), level::stop, here, [&] {
        ++calls;
        cb.reset();
    });
    other->stop();
    EXPECT_EQ(calls, 2);
}

// An operation that takes its own lock to cancel another one, and when it is cancelled itself. Run inside cancel(), two of
// them would wait for each other.
struct locked_operation {
    locked_operation(roost::executor_ref on, ref at)
        : node(std::move(at)), told(token(*node), level::cancel, on, [this] {
              const std::lock_guard<roost::seam::small_mutex> held(lock);
              ++cancelled;
          }) {}
    void cancel(locked_operation& other) {
        const std::lock_guard<roost::seam::small_mutex> held(lock);
        other.node->cancel();
    }
    roost::seam::small_mutex lock;
    ref node;
    int cancelled = 0;
    callback told;
};

TEST(callback, TREE_43_two_operations_that_hold_their_locks_cancel_each_other) {
    for (int round = 0; round < 500; ++round) {
        manual_executor exec;
        locked_operation a(exec, make_root("a"));
        locked_operation b(exec, make_root("b"));
        roost::seam::atomic<std::uint32_t> ready{0};
        const auto meet = [&ready] {
            ready.fetch_add(1, roost::seam::mo::relaxed);
            while (ready.load(roost::seam::mo::relaxed) < 2) {
                roost::seam::yield_thread();
            }
        };
        roost::seam::thread one([&] {
            meet();
            a.cancel(b);
        });
        roost::seam::thread two([&] {
            meet();
            b.cancel(a);
        });
        one.join();
        two.join();
        EXPECT_EQ(a.cancelled + b.cancelled, 0) << "only posted";
        exec.run_all();
        EXPECT_EQ(a.cancelled, 1);
        EXPECT_EQ(b.cancelled, 1);
    }
}

TEST(callback_death, TREE_44_an_executor_is_required) {
    ref root = make_root();
    EXPECT_DEATH(callback(token(*root), level::stop, roost::executor_ref(), [] {}), "needs an executor");
}

TEST(callback, TREE_42_may_drop_the_last_handles_of_the_parent_and_of_its_own_node) {
    int destroyed = 0;
    ref root = make_root();
    root->destroyed = &destroyed;
    ref parent = make_child(*root);
    parent->destroyed = &destroyed;
    ref child = make_child(*parent);
    child->destroyed = &destroyed;
    std::optional<inline_callback<std::function<void()>>> cb;
    cb.emplace(token(*child), level::cancel, std::function<void()>([&] {
                   child = {};
                   parent = {};
                   cb.reset();
               }));
    root->cancel();
    EXPECT_EQ(destroyed, 2) << "both are gone, and the walk found its way back";
    EXPECT_FALSE(root->has_members());
}

}  // namespace
