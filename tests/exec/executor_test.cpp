#include <roost/exec/executor.hpp>

#include <gtest/gtest.h>

#include <array>

static_assert(sizeof(roost::executor_ref) == sizeof(void*));
static_assert(std::is_trivially_copyable_v<roost::executor_ref>);

namespace {

struct counted : roost::ext::work {
    counted() : work(&counted::run_it) {}
    static void run_it(roost::ext::work& w) noexcept { ++static_cast<counted&>(w).runs; }
    int runs = 0;
};

// A user's own queue, which knows nothing of roost::executor.
struct users_queue {
    bool post(roost::ext::work& w) noexcept {
        if (closed) {
            return false;
        }
        queued.push(w);
        return true;
    }
    void run_all() {
        while (roost::ext::work* w = queued.pop()) {
            w->run();
        }
    }
    roost::ext::work_list queued;
    bool closed = false;
};

struct may_throw_queue {
    bool post(roost::ext::work&) { return true; }
};
static_assert(roost::ext::can_post<users_queue>);
static_assert(!roost::ext::can_post<may_throw_queue>, "posting must be noexcept");

TEST(executor, BASE_21_post_runs_nothing_inside_the_call) {
    users_queue queue;
    roost::ext::executor_adapter adapter(queue);
    const roost::executor_ref ref(adapter);
    counted w;
    EXPECT_TRUE(ref.post(w));
    EXPECT_EQ(w.runs, 0);
    queue.run_all();
    EXPECT_EQ(w.runs, 1);
}

TEST(executor, BASE_21_a_closed_executor_says_no) {
    users_queue queue;
    queue.closed = true;
    roost::ext::executor_adapter adapter(queue);
    counted w;
    EXPECT_FALSE(adapter.post(w));
    EXPECT_FALSE(adapter.post_last(w));
    EXPECT_EQ(w.runs, 0);
}

TEST(executor, BASE_21_many_at_once_are_posted_in_order_and_the_refused_stay_in_the_list) {
    users_queue queue;
    roost::ext::executor_adapter adapter(queue);
    EXPECT_FALSE(adapter.takes_chains()) << "unless it says so";
    std::array<counted, 3> all;
    roost::ext::work_list chain;
    for (counted& w : all) {
        chain.push(w);
    }
    adapter.post_all(chain);
    EXPECT_TRUE(chain.is_empty());
    for (counted& w : all) {
        EXPECT_EQ(queue.queued.pop(), &w);
        chain.push(w);
    }
    queue.closed = true;
    adapter.post_all(chain);
    EXPECT_EQ(chain.pop(), all.data()) << "the first that was refused is still the first";
    EXPECT_EQ(chain.pop(), &all[1]);
}

TEST(executor, BASE_21_the_inline_executor_is_the_explicit_exception) {
    roost::ext::inline_executor here;
    counted w;
    EXPECT_TRUE(here.post(w));
    EXPECT_EQ(w.runs, 1);
    EXPECT_TRUE(here.is_here());
}

TEST(executor, BASE_22_a_plain_queue_becomes_an_executor) {
    users_queue queue;
    roost::ext::executor_adapter adapter(queue);
    EXPECT_FALSE(adapter.is_here());
    EXPECT_EQ(adapter.timers(), nullptr);
    EXPECT_EQ(adapter.name(), "executor");
    roost::executor_ref none;
    EXPECT_FALSE(none);
    EXPECT_FALSE(none == roost::executor_ref(adapter));
}

TEST(executor, BASE_23_refused_work_runs_on_the_fallback) {
    users_queue closed;
    closed.closed = true;
    roost::ext::executor_adapter refusing(closed);
    users_queue rescue;
    roost::ext::executor_adapter fallback(rescue);
    EXPECT_FALSE(roost::ext::set_fallback_executor(fallback));
    counted w;
    roost::ext::post_or_fall_back(refusing, w, "waiter");
    rescue.run_all();
    EXPECT_EQ(w.runs, 1);
    EXPECT_EQ(roost::ext::set_fallback_executor({}), roost::executor_ref(fallback));
}

TEST(executor, BASE_23_without_a_fallback_the_object_is_named) {
    users_queue closed;
    closed.closed = true;
    roost::ext::executor_adapter refusing(closed);
    counted w;
    EXPECT_DEATH(roost::ext::post_or_fall_back(refusing, w, "waiter of 'orders'"),
                 "executor 'waiter of 'orders''.*would be lost");
}

}  // namespace
