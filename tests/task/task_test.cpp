#include <roost/task/task.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

using namespace roost;

namespace {

static_assert(!std::is_copy_constructible_v<task<int>>);
static_assert(std::is_nothrow_move_constructible_v<task<int>>);
static_assert(!std::is_aggregate_v<task<int>>);

task<int> add_one(int v) { co_return v + 1; }
task<std::unique_ptr<int>> make_unique_int(int v) { co_return std::make_unique<int>(v); }
task<int&> refer_to(int& v) { co_return v; }
task<> throw_logic() {
    throw std::logic_error("broken");
    co_return;
}

task<> note_run(bool& ran) {
    ran = true;
    co_return;
}

TEST(task, TASK_1_nothing_runs_before_it_is_awaited) {
    bool ran = false;
    {
        auto t = note_run(ran);
        EXPECT_TRUE(t);
    }
    EXPECT_FALSE(ran);
}

task<> await_it(task<> t) { co_await std::move(t); }

TEST(task, TASK_1_awaiting_runs_it_in_the_same_job) {
    rig::stage s;
    bool ran = false;
    auto t = note_run(ran);
    const job j = s.play(await_it(std::move(t)));
    EXPECT_TRUE(ran);
    EXPECT_FALSE(t);
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> collect_kinds(int& value, std::unique_ptr<int>& moved, int*& referred, int& target) {
    value = co_await add_one(1);
    moved = co_await make_unique_int(7);
    int& r = co_await refer_to(target);
    referred = &r;
}

TEST(task, TASK_2_results_may_be_values_move_only_or_references) {
    rig::stage s;
    int value = 0;
    int target = 0;
    int* referred = nullptr;
    std::unique_ptr<int> moved;
    s.play(collect_kinds(value, moved, referred, target));
    EXPECT_EQ(value, 2);
    ASSERT_TRUE(moved);
    EXPECT_EQ(*moved, 7);
    EXPECT_EQ(referred, &target);
}

task<> catch_it(std::string& what) {
    try {
        co_await throw_logic();
    } catch (const std::logic_error& e) {
        what = e.what();
    }
}

TEST(task, TASK_3_an_error_arrives_with_its_own_type) {
    rig::stage s;
    std::string what;
    s.play(catch_it(what));
    EXPECT_EQ(what, "broken");
}

task<int> hold(rig::tracked, int& alive_inside, int& alive) {
    const rig::tracked local(alive);
    alive_inside = alive;
    co_return 3;
}

task<> look_after(int& alive, int& alive_inside, int& alive_after, int& got) {
    got = co_await hold(rig::tracked(alive), alive_inside, alive);
    alive_after = alive;
}

TEST(task, TASK_4_locals_and_arguments_are_gone_before_the_awaiting_side_goes_on) {
    rig::stage s;
    int alive = 0;
    int inside = 0;
    int after = -1;
    int got = 0;
    s.play(look_after(alive, inside, after, got));
    EXPECT_GE(inside, 2);
    EXPECT_EQ(after, 0);
    EXPECT_EQ(got, 3);
}

class moves_badly {
public:
    moves_badly() = default;
    moves_badly(moves_badly&& other) : moves_(other.moves_ + 1) {
        if (moves_ == limit) {
            throw std::runtime_error("will not move");
        }
    }
    static inline int limit = 0;

private:
    int moves_ = 0;
};

task<moves_badly> make_bad() { co_return moves_badly(); }
task<> take_bad(int& caught) {
    try {
        static_cast<void>(co_await make_bad());
    } catch (const std::runtime_error&) {
        ++caught;
    }
}

TEST(task, TASK_5_a_result_that_throws_while_it_is_moved_is_one_error) {
    for (moves_badly::limit = 1; moves_badly::limit <= 2; ++moves_badly::limit) {
        rig::stage s;
        int caught = 0;
        const job j = s.play(take_bad(caught));
        EXPECT_EQ(caught, 1) << "at move " << moves_badly::limit;
        EXPECT_EQ(j.state(), job_state::completed);
    }
}

struct throws_on_exit {
    ~throws_on_exit() noexcept(false) { throw std::runtime_error("on the way out"); }
};

task<rig::tracked> return_twice(int& alive) {
    try {
        const throws_on_exit local;
        co_return rig::tracked(alive);
    } catch (const std::runtime_error&) {}
    co_return rig::tracked(alive);
}
task<> take_the_second(int& alive, int& seen) {
    const rig::tracked value = co_await return_twice(alive);
    seen = alive;
}

TEST(task, TASK_5_a_result_that_is_replaced_on_the_way_out_is_destroyed) {
    int alive = 0;
    int seen = 0;
    {
        rig::stage s;
        const job j = s.play(take_the_second(alive, seen));
        EXPECT_EQ(j.state(), job_state::completed);
    }
    EXPECT_EQ(seen, 1);
    EXPECT_EQ(alive, 0);
}

task<> use_twice() {
    auto t = add_one(1);
    auto u = std::move(t);
    static_cast<void>(co_await std::move(u));
    static_cast<void>(co_await std::move(t));  // NOLINT(bugprone-use-after-move): that is the point
}

TEST(task_death, TASK_6_using_a_task_twice_is_a_named_bug) {
    EXPECT_DEATH(
        {
            rig::stage s;
            s.play(use_twice());
        },
        "task: it was used before");
}

task<> current_is(job& from_task, job& from_thread) {
    from_task = co_await this_job();
    from_thread = current_job();
    co_await yield();
    EXPECT_EQ(current_job(), from_task);
}

TEST(task, TASK_7_the_current_job_is_right_after_every_resume_and_cleared_outside) {
    rig::stage s;
    job from_task;
    job from_thread;
    const job j = s.play(current_is(from_task, from_thread));
    EXPECT_EQ(from_task, j);
    EXPECT_EQ(from_thread, j);
    EXPECT_FALSE(current_job());
}

}  // namespace
