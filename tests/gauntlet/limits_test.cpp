// Scenario 10: counters one before their limit, at it and beyond. What goes beyond is refused with a value where the call can say
// so, and ends the program with a sentence where it cannot; nothing wraps around. The counters of the tree with four bits:
// guard_counting_model, work_state_test. Waiters need no limit: each is an object, and memory ends before 32 bits do.

#include <roost/shutdown/detail/shutdown_node.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/latch.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/shared_mutex.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/tree/detail/node_access.hpp>
#include <roost/tree/detail/work_state.hpp>

#include "../task/rig.hpp"
#include "../tree/tree_support.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// A shutdown node that has so many more owners while this lives.
struct shutdown_node_owners {
    shutdown_node_owners(const shutdown& of, owner_word handles, owner_word pins) noexcept
        : word_(&static_cast<shutdown_node&>(detail::tree_access::core_of(of.tree_node())).owners_),
          more_(handles * one_handle + pins * one_pin) {
        word_->fetch_add(more_, mo::relaxed);
    }
    shutdown_node_owners(const shutdown_node_owners&) = delete;
    shutdown_node_owners& operator=(const shutdown_node_owners&) = delete;
    ~shutdown_node_owners() { word_->fetch_sub(more_, mo::relaxed); }
    [[nodiscard]] owner_word handles() const noexcept { return word_->load(mo::relaxed) & handle_mask; }
    [[nodiscard]] owner_word pins() const noexcept { return word_->load(mo::relaxed) / one_pin; }

private:
    atomic<owner_word>* word_;
    owner_word more_;
};

}  // namespace roost::inline ROOST_ABI::detail

namespace {

using namespace roost;
using namespace roost::seam;
using detail::reference_limit;
using detail::unit_limit;
using gauntlet::quiet;

TEST(gauntlet_limits, GAUNTLET_10_SYNC_176_permits_and_counts_stop_at_their_limit) {
    const quiet q("scenario 10");
    int refused = 0;
    semaphore s(semaphore::max_permits - 1, "slots");
    s.add_permits(1);
    EXPECT_EQ(s.total(), semaphore::max_permits);
    EXPECT_DEATH(s.add_permits(1), "slots");
    ++refused;
    {
        auto all = s.try_acquire(semaphore::max_permits);
        EXPECT_TRUE(all);
        EXPECT_EQ(s.available(), 0U);
        EXPECT_FALSE(s.try_acquire(1));
        EXPECT_DEATH(static_cast<void>(s.try_acquire(semaphore::max_permits + 1)), "slots.*than max_permits");
        refused += 2;
    }
    EXPECT_EQ(s.available(), semaphore::max_permits);
    EXPECT_DEATH(s.release(1), "slots");
    ++refused;
    EXPECT_DEATH(semaphore(semaphore::max_permits + 1, "slots"), "slots.*than max_permits");
    ++refused;
    latch most(latch::max_count, "line");
    most.count_down(latch::max_count);
    EXPECT_TRUE(most.try_wait());
    EXPECT_DEATH(latch(latch::max_count + 1, "line"), "line");
    ++refused;
    shared_mutex table("table");
    ASSERT_TRUE(detail::sync_access::permits_of(table).try_take(shared_mutex::max_readers - 2));  // as many readers
    {
        auto last = table.try_lock_shared();
        EXPECT_TRUE(last);
        EXPECT_EQ(table.readers_now(), shared_mutex::max_readers - 1);
        EXPECT_FALSE(table.try_lock());
        auto over = table.try_lock_shared();  // holds everything, as only a writer may
        EXPECT_FALSE(table.try_lock_shared());
        EXPECT_FALSE(table.lock_shared_blocking(now()));
        EXPECT_DEATH(over.unlock(), "table.*by a reader while a writer");
        refused += 3;
        static_cast<void>(over.release());
        detail::sync_access::permits_of(table).give(1);
    }
    EXPECT_EQ(table.readers_now(), shared_mutex::max_readers - 2);
    detail::sync_access::permits_of(table).give(shared_mutex::max_readers - 2);
    EXPECT_EQ(table.readers_now(), 0U);
    q.say("%d steps over the edge of permits, counts and readers, each told", refused);
}

// A node that counts so much more while this lives, as if others had entered and referred to it.
class crowd {
public:
    crowd(detail::node& in, std::uint32_t units, std::uint32_t references) noexcept
        : in_(&in), more_(units * detail::one_unit + references * detail::one_reference) {
        detail::node_access::work_of(in).fetch_add(more_, mo::relaxed);
    }
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;
    ~crowd() { detail::node_access::work_of(*in_).fetch_sub(more_, mo::relaxed); }

private:
    detail::node* in_;
    detail::work_word more_;
};
std::uint32_t references(detail::node& n) {
    return detail::work_state::unpack(detail::node_access::work_of(n).load(mo::relaxed)).references;
}

TEST(gauntlet_limits, GAUNTLET_10_TREE_26_guards_and_jobs_stop_at_their_limit) {
    const quiet q("scenario 10");
    int refused = 0;
    shutdown root("crowded");
    shutdown below = root.child("below");
    detail::node& counted = detail::tree_access::core_of(root.tree_node());
    {
        const crowd most(counted, unit_limit - 1, 0);
        const guard last = root.guard();
        EXPECT_EQ(counted.units(), unit_limit);
        EXPECT_FALSE(root.try_guard());
        EXPECT_FALSE(below.try_guard()) << "it would count above";
        EXPECT_EQ(counted.units(), unit_limit);
        EXPECT_EQ(detail::tree_access::core_of(below.tree_node()).units(), 0U);
        EXPECT_DEATH(static_cast<void>(root.guard()), "'crowded'.*more units of work than can be counted");
        EXPECT_DEATH(static_cast<void>(guard(last)), "'crowded'.*more units of work than can be counted");
        EXPECT_DEATH(static_cast<void>(below.guard()), "'crowded'.*more units of work than can be counted");
        EXPECT_DEATH(static_cast<void>(root.child("one more")), "'crowded'.*it cannot add child 'one more'");
        refused += 6;
    }
    EXPECT_EQ(root.guard_count(), 0U);
    EXPECT_TRUE(below.try_guard()) << "there is room again";
    EXPECT_TRUE(root.shut_down().is_resolved());

    rig::manual where;
    owned_scope jobs(where, scope_options("jobs").report_failures());
    int ran = 0;
    const auto count = [](int& n) -> task<> {
        ++n;
        co_return;
    };
    {
        const crowd most(detail::task_access::core_of(jobs), unit_limit - 1 - detail::task_access::core_of(jobs).units(), 0);
        EXPECT_TRUE(jobs.launch("last", count(ran)));
        EXPECT_FALSE(jobs.launch("over", count(ran)));
        ++refused;
        EXPECT_EQ(detail::task_access::core_of(jobs).units(), unit_limit);
        where.run();
        EXPECT_EQ(ran, 1) << "what was refused never runs";
        EXPECT_TRUE(jobs.launch("again", count(ran)));
        where.run();
    }
    EXPECT_EQ(ran, 2);
    jobs.request_close();
    where.run();
    EXPECT_TRUE(jobs.is_closed());
    q.say("%d guards, children and jobs too many, each told", refused);
}

TEST(gauntlet_limits, GAUNTLET_10_TREE_26_TREE_102_references_stop_at_their_limit_and_nested_guards_do_not) {
    const quiet q("scenario 10");
    int refused = 0;
    const tree_support::ref shown = tree_support::make_root("shown");
    const std::uint32_t had = references(*shown);
    {
        const crowd most(*shown, 0, reference_limit - 1 - had);
        const tree_support::ref last = shown;
        EXPECT_EQ(references(*shown), reference_limit);
        EXPECT_DEATH(static_cast<void>(tree_support::ref(shown)), "'shown'.*more references than can be counted");
        EXPECT_DEATH(static_cast<void>(shown->try_retain()), "'shown'.*more references than can be counted");
        EXPECT_FALSE(tree_support::make_child(*shown)) << "a child refers to its parent";
        EXPECT_EQ(references(*shown), reference_limit);
        refused += 3;
    }
    EXPECT_EQ(references(*shown), had);
    constexpr int more_than_the_node_counts = 300;
    for (int i = 0; i < more_than_the_node_counts; ++i) {
        EXPECT_TRUE(shown->enter_ignore());
    }
    shown->cancel();
    for (int i = 0; i < more_than_the_node_counts; ++i) {
        EXPECT_FALSE(shown->is_cancelled()) << i;
        shown->leave_ignore();
    }
    EXPECT_TRUE(shown->is_cancelled());
    q.say("%d references too many, each told", refused);
}

TEST(gauntlet_limits, GAUNTLET_10_SHUT_101_handles_and_completions_stop_at_their_limit) {
    const quiet q("scenario 10");
    int refused = 0;
    const shutdown root("shared");
    {
        const detail::shutdown_node_owners most(root, detail::handle_limit - 2, 0);
        const shutdown last = root;
        EXPECT_EQ(most.handles(), detail::handle_limit);
        EXPECT_EQ(most.pins(), 0U) << "a handle too many is no completion";
        EXPECT_DEATH(static_cast<void>(shutdown(root)), "'shared'.*too many handles");
        ++refused;
        const shutdown below = root.child("below");
        EXPECT_FALSE(root.completion().is_resolved());
        EXPECT_EQ(most.handles(), detail::handle_limit) << "neither is a handle";
    }
    {
        const detail::shutdown_node_owners most(root, 0, detail::pin_limit - 2);
        const shutdown below = root.child("below");
        shutdown_completion last = root.completion();
        EXPECT_EQ(most.pins(), detail::pin_limit);
        const char* const told = "'shared'.*too many unresolved completions and children";
        EXPECT_DEATH(static_cast<void>(root.completion()), told);
        EXPECT_DEATH(static_cast<void>(shutdown_completion(last)), told);
        EXPECT_DEATH(root.shut_down(), told);
        EXPECT_DEATH(static_cast<void>(root.child("one more")), told);
        EXPECT_DEATH(shutdown(root).wait_blocking(), told) << "who gives up a handle has a completion first";
        refused += 5;
        EXPECT_EQ(most.pins(), detail::pin_limit);
        EXPECT_FALSE(last.is_resolved());
    }
    EXPECT_TRUE(root.shut_down().is_resolved()) << "there is room again";
    q.say("%d handles, completions and children too many, each told", refused);
}

}  // namespace
