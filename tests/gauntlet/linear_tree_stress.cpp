// Scenario 11, without tasks that run: chains of nodes, of shutdown children, and of tasks that never began.

#include <roost/flow/race.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/task.hpp>
#include <roost/testing/manual_executor.hpp>
#include <roost/tree/lease.hpp>

#include "../tree/tree_support.hpp"
#include "linear.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace roost;
using gauntlet::expect_linear;
using gauntlet::quiet;
using gauntlet::thread_cpu_time;

constexpr int deep = gauntlet::sanitized ? 20'000 : 100'000;

std::chrono::nanoseconds cost_of_asking(int depth, bool from_below) {
    const auto root = tree_support::make_root();
    std::vector<tree_support::ref> chain{root};
    for (int i = 0; i < depth; ++i) {
        chain.push_back(tree_support::make_child(*chain.back()));
    }
    if (from_below) {
        std::reverse(chain.begin(), chain.end());
    }
    const auto began = thread_cpu_time();
    root->cancel(reason(reason_kind::shutdown, "deep"));
    std::size_t found = 0;
    for (const auto& n : chain) {
        found += n->why(level::cancel).text() == "deep" ? 1U : 0U;
    }
    const auto took = thread_cpu_time() - began;
    EXPECT_EQ(found, chain.size());
    if (!from_below) {
        std::reverse(chain.begin(), chain.end());
    }
    return took;
}
TEST(gauntlet_linear, GAUNTLET_11_TREE_100_asking_a_whole_chain_why_costs_in_proportion_to_it) {
    const quiet q("scenario 11");
    for (const bool from_below : {false, true}) {
        expect_linear(q, "nodes", from_below ? "asked from below" : "asked from above", deep, 100,
                      [&](int depth) { return cost_of_asking(depth, from_below); });
    }
}

enum class chain_end { stopped, dropped_from_below, dropped_from_above, guarded, reported };
const char* named(chain_end how) {
    constexpr const char* names[] = {"stopped", "dropped from below", "dropped from above", "guarded and stopped",
                                     "guarded and reported"};
    return names[static_cast<int>(how)];
}
std::chrono::nanoseconds cost_of_chain(int depth, chain_end how) {
    const auto began = thread_cpu_time();
    std::vector<shutdown> chain;
    chain.push_back(shutdown("root"));
    for (int i = 0; i < depth; ++i) {
        chain.push_back(chain.back().child());
    }
    const bool is_guarded = how == chain_end::guarded || how == chain_end::reported;
    std::vector<guard> guards;
    for (std::size_t i = 0; is_guarded && i < chain.size(); ++i) {
        guards.push_back(chain[i].guard());
    }
    if (how == chain_end::reported) {
        EXPECT_FALSE(chain[0].report().to_string().empty());
    }
    if (how == chain_end::stopped || is_guarded) {
        chain[0].shut_down();
        EXPECT_EQ(chain[0].guard_count(), guards.size());
        guards.clear();
        EXPECT_EQ(chain[0].state(), shutdown_state::complete);
        EXPECT_EQ(chain.back().state(), shutdown_state::complete);
    }
    if (how == chain_end::dropped_from_above) {
        std::reverse(chain.begin(), chain.end());
    }
    while (!chain.empty()) {
        chain.pop_back();
    }
    return thread_cpu_time() - began;
}
TEST(gauntlet_linear, GAUNTLET_11_SHUT_64_a_chain_of_shutdown_children_costs_in_proportion_to_its_length) {
    const quiet q("scenario 11");
    for (const chain_end how : {chain_end::stopped, chain_end::dropped_from_below, chain_end::dropped_from_above,
                                chain_end::guarded, chain_end::reported}) {
        expect_linear(q, "shutdown nodes", named(how), deep, 100, [&](int depth) { return cost_of_chain(depth, how); });
    }
}

std::chrono::nanoseconds cost_of_report_of_scopes(int depth) {
    roost::testing::manual_executor on("hand");
    const shutdown top("server");
    std::deque<owned_scope> chain;
    chain.emplace_back(top.tree_node(), on, node_name("scope"));
    for (int i = 1; i < depth; ++i) {
        chain.emplace_back(chain.back().tree_node(), on, node_name("scope"));
    }
    roost::ext::lease held = chain.back().lease();
    const auto began = thread_cpu_time();
    EXPECT_EQ(top.report().entries().size(), 1U);
    EXPECT_EQ(top.guard_count(), 1U);
    const auto cost = thread_cpu_time() - began;
    held.give_back();
    for (owned_scope& one : chain) {
        one.request_close();
    }
    on.run_all();
    while (!chain.empty()) {
        chain.pop_back();
    }
    return cost;
}
TEST(gauntlet_linear, GAUNTLET_11_SHUT_114_a_report_of_nested_scopes_costs_in_proportion_to_their_number) {
    const quiet q("scenario 11");
    expect_linear(q, "scopes", "reported", deep / 5, 100, cost_of_report_of_scopes);
}

task<int> nest(task<int> inner) { co_return co_await std::move(inner); }
task<int> leaf() { co_return 1; }
std::chrono::nanoseconds cost_of_dropping(int depth) {
    const auto began = thread_cpu_time();
    {
        task<int> t = leaf();
        for (int i = 0; i < depth; ++i) {
            t = nest(std::move(t));
        }
    }
    return thread_cpu_time() - began;
}
TEST(gauntlet_linear, GAUNTLET_11_TASK_101_dropping_tasks_that_never_ran_costs_in_proportion) {
    const quiet q("scenario 11");
    expect_linear(q, "unstarted tasks", "dropped", 10 * deep, 100, cost_of_dropping);
}

generator<int> wrap(generator<int> inner) {
    while (int* v = co_await inner.next()) {
        co_yield *v;
    }
}
generator<int> one() { co_yield 1; }
std::chrono::nanoseconds cost_of_dropping_generators(int depth) {
    const auto began = thread_cpu_time();
    {
        generator<int> g = one();
        for (int i = 0; i < depth; ++i) {
            g = wrap(std::move(g));
        }
    }
    return thread_cpu_time() - began;
}
task<> drop_after_first(int depth) {
    generator<int> g = one();
    for (int i = 0; i < depth; ++i) {
        g = wrap(std::move(g));
    }
    static_cast<void>(co_await g.next());
}
std::chrono::nanoseconds cost_of_dropping_half_way(int depth) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    const auto began = thread_cpu_time();
    root.launch("asks", drop_after_first(depth));
    ex.run_all();
    const auto cost = thread_cpu_time() - began;
    root.request_close();
    ex.run_all();
    return cost;
}
TEST(gauntlet_linear, GAUNTLET_11_TASK_101_dropping_generators_costs_in_proportion_asked_or_not) {
    const quiet q("scenario 11");
    expect_linear(q, "generators", "dropped", 10 * deep, 100, cost_of_dropping_generators);
    expect_linear(q, "generators", "dropped half way", deep, 100, cost_of_dropping_half_way);
}

std::chrono::nanoseconds cost_of_errors(int depth) {
    const auto began = thread_cpu_time();
    std::exception_ptr error = std::make_exception_ptr(std::runtime_error("innermost"));
    for (int i = 0; i < depth; ++i) {
        std::vector<std::exception_ptr> one;
        one.push_back(std::move(error));
        error = std::make_exception_ptr(all_failed(std::move(one)));
    }
    error = nullptr;
    return thread_cpu_time() - began;
}
TEST(gauntlet_linear, GAUNTLET_11_JOB_42_errors_inside_errors_are_made_and_destroyed_in_proportion) {
    const quiet q("scenario 11");
    expect_linear(q, "all_failed", "inside each other", deep, 100, cost_of_errors);
}

}  // namespace
