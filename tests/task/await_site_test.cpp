// The lines that a suspended body shows.

#include <roost/flow/race.hpp>
#include <roost/observe/dump.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/with_scope.hpp>
#include <roost/tree/visit.hpp>

#include "rig.hpp"

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;
using rig::stage;

// Each line below that awaits writes its number here first.
struct lines {
    unsigned inner = 0, middle = 0, outer = 0;
};

task<> inner(event& e, lines& at) {
    at.inner = __LINE__ + 1;
    co_await e.wait();
}
task<> middle(event& e, lines& at) {
    at.middle = __LINE__ + 1;
    co_await inner(e, at);
}
task<> outer(event& e, lines& at) {
    at.outer = __LINE__ + 1;
    co_await middle(e, at);
}

// The lines of the innermost wait below root, from the inside to the outside.
std::vector<unsigned> stack_below(const node& root) {
    std::vector<unsigned> all;
    visit(root, 100, [&](const node_description& d) {
        if (d.waits_at.is_known()) {
            EXPECT_TRUE(all.empty()) << "one job waits at one place";
            all.push_back(d.waits_at.line());
            for (std::size_t i = 0; i < d.caller_count; ++i) {
                all.push_back(d.callers[i].line());
            }
        }
    });
    return all;
}

TEST(await_site, OBS_100_a_suspended_job_shows_the_line_of_each_frame) {
    stage s;
    event go("go");
    lines at;
    s.play(outer(go, at), "job");
    EXPECT_EQ(stack_below(s.root.tree_node()), (std::vector<unsigned>{at.inner, at.middle, at.outer}));
    go.set();
    s.run();
    EXPECT_TRUE(stack_below(s.root.tree_node()).empty());
}

task<> in_scope(scope& /*s*/, event& e, lines& at) { return middle(e, at); }

constexpr unsigned through_begins = __LINE__;
task<> through(event& e, lines& at, int kind) {
    switch (kind) {
        case 0: co_await fail_after(1h, middle(e, at)); break;
        case 1: co_await shield(1h, middle(e, at)); break;
        case 2: static_cast<void>(co_await as_outcome(middle(e, at))); break;
        case 3: co_await with_scope(in_scope, std::ref(e), std::ref(at)); break;
        case 4: static_cast<void>(co_await move_on_after(1h, middle(e, at))); break;
        default: co_await middle(e, at); break;
    }
}
constexpr unsigned through_ends = __LINE__;

TEST(await_site, OBS_100_the_stack_goes_through_regions) {
    unsigned before = through_begins;
    for (int kind = 0; kind <= 5; ++kind) {
        stage s;
        event go("go");
        lines at;
        s.play(through(go, at, kind), "job");
        const std::vector<unsigned> seen = stack_below(s.root.tree_node());
        go.set();
        s.run();
        ASSERT_EQ(seen.size(), 3U) << kind;
        EXPECT_EQ(seen[0], at.inner);
        EXPECT_EQ(seen[1], at.middle);
        EXPECT_GT(seen[2], before) << "each in a line of its own";
        EXPECT_LT(seen[2], through_ends);
        before = seen[2];
    }
}

generator<int> numbers(event& e, lines& at) {
    at.inner = __LINE__ + 1;
    co_await e.wait();
    co_yield 1;
}
task<> ask(event& e, lines& at) {
    auto all = numbers(e, at);
    at.outer = __LINE__ + 1;
    static_cast<void>(co_await all.next());
}

TEST(await_site, OBS_100_the_stack_goes_through_generators) {
    stage s;
    event go("go");
    lines at;
    s.play(ask(go, at), "job");
    EXPECT_EQ(stack_below(s.root.tree_node()), (std::vector<unsigned>{at.inner, at.outer}));
    go.set();
    s.run();
}

task<> has_exit_action(event& body, event& action, lines& at) {
    co_await on_exit(inner, std::ref(action), std::ref(at));
    at.middle = __LINE__ + 1;
    co_await body.wait();
}
task<> awaits_exit_action(event& body, event& action, lines& at) {
    at.outer = __LINE__ + 1;
    co_await has_exit_action(body, action, at);
}

TEST(await_site, OBS_100_the_stack_goes_through_exit_actions) {
    stage s;
    event body("body");
    event action("action");
    lines at;
    s.play(awaits_exit_action(body, action, at), "job");
    EXPECT_EQ(stack_below(s.root.tree_node()), (std::vector<unsigned>{at.middle, at.outer})) << "registered";
    body.set();
    s.run();
    EXPECT_EQ(stack_below(s.root.tree_node()), (std::vector<unsigned>{at.inner, at.outer})) << "in place of its frame";
    action.set();
    s.run();
}

task<> deep(event& e, int left) {
    if (left > 0) {
        co_await deep(e, left - 1);
    } else {
        co_await e.wait();
    }
}

TEST(await_site, OBS_101_a_long_stack_is_cut) {
    stage s;
    event go("go");
    s.play(deep(go, 100), "job");
    std::size_t callers = 0;
    bool more = false;
    visit(s.root.tree_node(), 100, [&](const node_description& d) {
        callers = std::max<std::size_t>(callers, d.caller_count);
        more = more || d.has_more_callers;
    });
    EXPECT_EQ(callers, node_description::most_callers);
    EXPECT_TRUE(more);
    EXPECT_NE(dump(s.root).find(" <- ..., waits on event 'go'"), std::string::npos) << dump(s.root);
    go.set();
    s.run();
}

TEST(await_site, OBS_101_a_dump_shows_the_stack) {
    stage s;
    event go("go");
    lines at;
    s.play(outer(go, at), "job");
    std::string file = site::here().to_string();
    file.resize(file.rfind(':') + 1);
    const std::string expected = ", at " + file + std::to_string(at.inner) + " <- " + file + std::to_string(at.middle) +
                                 " <- " + file + std::to_string(at.outer) + ", waits on event 'go'";
    EXPECT_NE(dump(s.root).find(expected), std::string::npos) << dump(s.root);
    go.set();
    s.run();
}

TEST(await_site, OBS_100_a_job_that_waits_for_a_foreign_awaitable_shows_its_line) {
    class foreign {
    public:
        explicit foreign(std::coroutine_handle<>& out) : out_(&out) {}
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) const noexcept { *out_ = h; }
        void await_resume() const noexcept {}

    private:
        std::coroutine_handle<>* out_;
    };
    stage s;
    std::coroutine_handle<> outside;
    unsigned line = 0;
    s.play([](std::coroutine_handle<>& h, unsigned& at) -> task<> {
        at = __LINE__ + 1;
        co_await foreign(h);
    }(outside, line));
    EXPECT_EQ(stack_below(s.root.tree_node()), (std::vector<unsigned>{line}));
    outside.resume();
    s.run();
}

}  // namespace
