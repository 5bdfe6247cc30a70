// Groups where it is awkward: executors that run work at once, close or refuse, cancels at every step, what is kept and reused.
#include <roost/flow/closing_executor.hpp>
#include <roost/flow/detail/group/fork.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/observe/job_events.hpp>
#include <roost/runtime/loop.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/job_local.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/tree/visit.hpp>

#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;
using namespace roost::seam;
using namespace std::chrono_literals;

namespace {

task<int> leaf() { co_return 1; }
task<int> sleep_long() {
    co_await sleep_for(1h);
    co_return 1;
}
task<int> note(std::vector<int>& order, int i) {
    order.push_back(i);
    co_return i;
}
task<int> note_and_fail(std::vector<int>& order, int i) {
    order.push_back(i);
    throw std::out_of_range("planned");
    co_return i;
}

// --- an executor that runs work inside post() ------------------------------------------------------------------------------

class inline_stage {
public:
    ~inline_stage() {
        root.request_close();
        EXPECT_TRUE(root.is_closed());
    }
    inline_executor executor;
    owned_scope root{executor, scope_options("root").report_failures()};
};

task<> all_inline(std::vector<int>& order, int& sum) {
    auto [a, b, c] = co_await when_all(note(order, 1), note(order, 2), note(order, 3));
    sum = a + b + c;
}
TEST(fork_edge, JOB_72_from_left_to_right_where_work_runs_inside_post) {
    inline_stage s;
    std::vector<int> order;
    int sum = 0;
    EXPECT_TRUE(s.root.launch("all", all_inline(order, sum)).is_finished());
    EXPECT_EQ(sum, 6);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

task<> race_inline(std::vector<int>& order, std::size_t& index) {
    auto won = co_await race(note(order, 1), note(order, 2), note(order, 3));
    index = won.index();
}
TEST(fork_edge, JOB_73_of_those_that_are_ready_the_leftmost_wins_where_work_runs_inside_post) {
    inline_stage s;
    std::vector<int> order;
    std::size_t index = 9;
    EXPECT_TRUE(s.root.launch("race", race_inline(order, index)).is_finished());
    EXPECT_EQ(index, 0U);
    EXPECT_EQ(order, (std::vector<int>{1}));
}

task<> fail_inline(std::vector<int>& order, int& alive, bool& caught) {
    const rig::tracked mine(alive);
    try {
        co_await when_all(note(order, 1), note_and_fail(order, 2), note(order, 3));
    } catch (const std::out_of_range&) {
        caught = true;
    }
}
TEST(fork_edge, JOB_73_after_a_failure_no_child_begins_where_work_runs_inside_post) {
    inline_stage s;
    std::vector<int> order;
    int alive = 0;
    bool caught = false;
    EXPECT_TRUE(s.root.launch("fail", fail_inline(order, alive, caught)).is_finished());
    EXPECT_TRUE(caught);
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    EXPECT_EQ(alive, 0);
}

task<int> wait_for(event& e, int v) {
    co_await e.wait();
    co_return v;
}
task<int> set_it(event& e, int v) {
    e.set();
    co_return v;
}
task<> wait_for_each_other(int& sum) {
    event go;
    event back;
    auto [a, b, c] = co_await when_all(wait_for(go, 1), wait_for(back, 2), set_it(go, 4));
    sum = a + b + c;
}
task<> wait_and_answer(int& sum) {
    event go;
    auto [a, b] = co_await when_all(wait_for(go, 1), set_it(go, 4));
    sum = a + b;
}
TEST(fork_edge, JOB_72_a_child_that_waits_delays_no_other_where_work_runs_inside_post) {
    inline_stage s;
    int sum = 0;
    EXPECT_TRUE(s.root.launch("both", wait_and_answer(sum)).is_finished());
    EXPECT_EQ(sum, 5);
    const job j = s.root.launch("stuck", wait_for_each_other(sum));
    EXPECT_FALSE(j.is_finished());
    j.cancel();
    EXPECT_EQ(j.state(), job_state::cancelled);
}

// --- what is kept for the next group ---------------------------------------------------------------------------------------

task<std::uintptr_t> scope_here() {
    const detail::job_core* mine = detail::task_access::core_of(co_await this_job());
    co_return reinterpret_cast<std::uintptr_t>(mine->parent());
}
// Takes what a scope that has gone has left, so that another one is somewhere else.
class block {
public:
    block() : memory_(allocate_frame(sizeof(detail::fork_scope))) {}
    block(const block&) = delete;
    ~block() { deallocate_frame(memory_, sizeof(detail::fork_scope)); }

private:
    void* memory_;
};
task<int> count_reused(int rounds) {
    int reused = 0;
    std::uintptr_t before = 0;
    std::vector<std::unique_ptr<block>> held;
    for (int i = 0; i < rounds; ++i) {
        auto [a, b] = co_await when_all(scope_here(), scope_here());
        EXPECT_EQ(a, b);
        reused += a == before ? 1 : 0;
        before = a;
        held.push_back(std::make_unique<block>());
    }
    co_return reused;
}
task<int> reused_below(bool in_group) {
    if (!in_group) {
        co_return co_await count_reused(100);
    }
    auto [n, none] = co_await when_all(count_reused(100), leaf());
    co_return n;
}
TEST(fork_edge, JOB_74_an_unobserved_scope_is_reused) {
    runtime threads(runtime_options().workers(1));
    EXPECT_GE(block_on(threads, reused_below(true)), 80) << "all but those with a tick of the clock between";
    EXPECT_EQ(block_on(threads, reused_below(false)), 0) << "other jobs keep nothing";
}

constexpr int hows = 11;
bool ends_the_others(int how) { return how == 1 || how == 3 || how == 8; }
task<int> odd(int how, int other) {
    const job me = co_await this_job();
    EXPECT_TRUE(!me.cancel_requested() || ends_the_others(other)) << how << ' ' << other;
    EXPECT_EQ(me.deadline(), no_deadline);
    EXPECT_TRUE(me.notes().empty());
    EXPECT_TRUE(me.others().empty());
    switch (how) {
        case 1: throw std::out_of_range("planned");
        case 2: me.cancel(reason(reason_kind::requested, "planned")); break;
        case 3:
            me.cancel(reason(reason_kind::requested, "planned"));
            co_await checkpoint();
            break;
        case 4: static_cast<void>(co_await move_on_after(1ms, sleep_long())); break;
        case 5: static_cast<void>(co_await fail_after(1h, leaf())); break;
        case 6: {
            const auto guard = co_await ignore_cancellation();
            me.cancel();
            break;
        }
        case 7: detail::task_access::core_of(me)->add_note("planned"); break;
        case 8:
            detail::task_access::core_of(me)->add_suppressed(std::make_exception_ptr(std::out_of_range("planned")));
            break;
        case 9: co_return co_await shield(1s, leaf());
        case 10: me.tree_node().stop(); break;
        default: break;
    }
    co_return how;
}
task<> two_odd(int first, int second) { co_await when_all(odd(first, second), odd(second, first)); }
task<int> odd_groups() {
    for (int i = 0; i < hows; ++i) {
        for (int j = 0; j < hows; ++j) {
            auto how = co_await as_outcome(two_odd(i, j));
            const bool fails = i == 1 || j == 1 || i == 8 || j == 8;
            if (!fails) {
                EXPECT_FALSE(how.has_error()) << i << ' ' << j;
                EXPECT_EQ(how.is_cancelled(), i == 3 || j == 3) << i << ' ' << j;
            }
            EXPECT_TRUE(i != 1 || how.has_error()) << j;
            const job me = co_await this_job();
            EXPECT_FALSE(me.cancel_requested()) << i << ' ' << j;
        }
    }
    co_return 1;
}
task<int> odd_below() {
    auto [a, b] = co_await when_all(odd_groups(), odd_groups());
    co_return a + b;
}
TEST(fork_edge, JOB_73_nothing_of_a_group_is_seen_by_the_next) {
    for (const unsigned workers : {1U, 2U}) {
        runtime threads(runtime_options().workers(workers));
        EXPECT_EQ(block_on(threads, odd_below()), 2);
    }
}

inline constexpr job_local<int> tag;
task<int> tag_here() {
    const int* found = co_await tag.find();
    co_return found == nullptr ? 0 : *found;
}
task<int> tags() {
    auto [a, b] = co_await when_all(tag_here(), tag_here());
    co_return a * 10 + b;
}
task<int> tags_of_both() {
    auto [a, b] = co_await when_all(tags(), []() -> task<int> { co_return co_await with_value(tag, 2, tags()); }());
    co_return a * 100 + b;
}
task<int> tags_all() {
    const int inside = co_await with_value(tag, 1, tags_of_both());
    co_return inside * 100 + co_await tags();
}
TEST(fork_edge, JOB_72_values_reach_children) {
    runtime threads(runtime_options().workers(1));
    EXPECT_EQ(block_on(threads, tags_all()), 112200);
}

// --- an executor that hands back whatever is newest ------------------------------------------------------------------------

class stack_of_work final : public executor {
public:
    bool post(work& w) noexcept override {
        if (at_once) {
            w.run();
        } else {
            all_.push_front(w);
        }
        return true;
    }
    bool take_next(const work& w) noexcept override {
        work* newest = all_.pop();
        if (newest != nullptr && newest != &w) {
            all_.push_front(*newest);
        }
        return newest == &w;
    }
    [[nodiscard]] bool is_here() const noexcept override { return true; }
    void run() noexcept {
        while (work* w = all_.pop()) {
            w->run();
        }
    }
    bool at_once = false;

private:
    work_list all_;
};
class stack_stage {
public:
    ~stack_stage() {
        root.request_close();
        executor.run();
        EXPECT_TRUE(root.is_closed());
    }
    template <class T>
    job_state play(task<T> t) {
        const job j = root.launch("job", std::move(t));
        executor.run();
        return j.state();
    }
    stack_of_work executor;
    owned_scope root{executor, scope_options("root").report_failures()};
};
// As the first child of a group: in a job that keeps what it can for its next group.
task<> in_group(task<> t) { co_await when_all(std::move(t), leaf()); }

task<int> chain(int n) {
    if (n == 0) {
        co_return 0;
    }
    auto [a, b] = co_await when_all(chain(n - 1), leaf());
    co_return a + b;
}
task<> chain_and_count(detail::node& root, std::size_t& nodes) {
    const int sum = co_await chain(1000);
    EXPECT_EQ(sum, 1000);
    visit(root, 10'000, [&](const node_description&) noexcept { ++nodes; });
}
TEST(fork_edge, JOB_74_what_is_kept_is_little_however_deep_the_groups_were) {
    stack_stage s;
    std::size_t nodes = 0;
    EXPECT_EQ(s.play(in_group(chain_and_count(detail::task_access::core_of(s.root), nodes))), job_state::completed);
    constexpr std::size_t running = 4;  // root, job, scope and child
    EXPECT_GT(nodes, running);
    EXPECT_LE(nodes, running + 200);
}

task<int> note_and_switch(stack_of_work& on, std::vector<int>& order) {
    order.push_back(1);
    on.at_once = true;
    co_return 1;
}
task<> three_on(stack_of_work& on, std::vector<int>& order, int& sum) {
    const job me = co_await this_job();
    auto [a, b, c] = co_await when_all(note_and_switch(on, order), note(order, 2), note(order, 3));
    EXPECT_EQ(current_job(), me);
    sum = a + b + c;
}
TEST(fork_edge, JOB_72_from_left_to_right_where_work_runs_inside_post_from_some_child_on) {
    stack_stage s;
    std::vector<int> order;
    int sum = 0;
    EXPECT_EQ(s.play(three_on(s.executor, order, sum)), job_state::completed);
    EXPECT_EQ(sum, 6);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

task<std::string> scope_name() {
    const job me = co_await this_job();
    co_return std::string(detail::task_access::core_of(me)->parent()->name());
}
// Five, so that the site is unknown (the same for all).
task<> kinds_in_turn(std::vector<std::string>& names) {
    for (int i = 0; i < 2; ++i) {
        auto all = co_await when_all(scope_name(), scope_name(), leaf(), leaf(), leaf());
        names.push_back(std::get<0>(all));
        auto won = co_await race(scope_name(), scope_name(), scope_name(), scope_name(), scope_name());
        names.push_back(won.value());
        auto settled = co_await when_all_settled(scope_name(), scope_name(), leaf(), leaf(), leaf());
        names.push_back(std::get<0>(settled).value());
    }
}
TEST(fork_edge, JOB_68_kinds_of_groups_in_turn_have_their_own_names) {
    stack_stage s;
    std::vector<std::string> names;
    EXPECT_EQ(s.play(in_group(kinds_in_turn(names))), job_state::completed);
    EXPECT_EQ(names,
              (std::vector<std::string>{"when_all", "race", "when_all_settled", "when_all", "race", "when_all_settled"}));
}

task<> count_every_other(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        const bool counted = i % 2 != 0;
        const bool before = set_job_counting(counted);
        const std::uint64_t made = job_counts_now().created();
        co_await when_all(leaf(), leaf());
        EXPECT_EQ(job_counts_now().created() - made, counted ? 2U : 0U) << i;
        set_job_counting(before);
    }
}
TEST(fork_edge, JOB_61_a_group_after_one_that_was_not_counted_is_counted) {
    stack_stage s;
    EXPECT_EQ(s.play(in_group(count_every_other(100))), job_state::completed);
}

task<int> not_cancelled() {
    const job me = co_await this_job();
    EXPECT_FALSE(me.cancel_requested());
    co_await checkpoint();
    co_return 1;
}
task<> cancel_what_is_kept(int rounds, int& cancelled) {
    const job me = co_await this_job();
    for (int i = 0; i < rounds; ++i) {
        co_await when_all(not_cancelled(), not_cancelled());
        if (detail::fork_scope* kept = detail::fork_job::of(*detail::task_access::core_of(me))->spare()) {
            detail::node& one = i % 2 == 0 ? static_cast<detail::node&>(*kept) : kept->first_job();
            one.cancel();
            ++cancelled;
        }
    }
}
TEST(fork_edge, JOB_73_a_cancel_of_what_is_kept_reaches_no_later_group) {
    stack_stage s;
    int cancelled = 0;
    EXPECT_EQ(s.play(in_group(cancel_what_is_kept(100, cancelled))), job_state::completed);
    EXPECT_EQ(cancelled, 100);
}

task<duration> age_here() {
    const job me = co_await this_job();
    node_description d;
    detail::task_access::core_of(me)->functions().describe(*detail::task_access::core_of(me), d);
    co_return d.started ? now() - *d.started : duration::max();
}
task<> age_of_the_next(duration& age) {
    for (const duration ago : {duration(1h), duration::zero()}) {
        detail::recent_time::tell(now() - ago);
        auto [here, other] = co_await when_all(age_here(), leaf());
        age = here;
    }
}
TEST(fork_edge, JOB_74_a_child_is_not_as_old_as_what_was_kept_for_it) {
    stack_stage s;
    duration age{};
    EXPECT_EQ(s.play(in_group(age_of_the_next(age))), job_state::completed);
    detail::recent_time::rest();
    EXPECT_LT(age, duration(30min));
}

}  // namespace
