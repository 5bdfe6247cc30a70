#include <roost/observe/dump.hpp>
#include <roost/observe/snapshot.hpp>
#include <roost/observe/waits.hpp>
#include <roost/shutdown/detail/report_of.hpp>

#include "waiting.hpp"

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;
using namespace waiting;
using rig::stage;

TEST(waits, OBS_220_owner_tracking_is_a_switch) {
    EXPECT_FALSE(set_owner_tracking(true));
    EXPECT_TRUE(set_owner_tracking(true));
    EXPECT_TRUE(set_owner_tracking(false));
    EXPECT_FALSE(set_owner_tracking(false));
}

TEST(waits, OBS_220_what_was_taken_while_it_was_off_has_no_known_owner) {
    stage s;
    event go;
    mutex m("m");
    s.play(hold(m, go), "holder");
    const tracked_owners on;
    s.play(take(m), "waiter");
    const auto all = waits(s.root);
    const waiting_job* w = find(all, "waiter");
    ASSERT_NE(w, nullptr);
    EXPECT_EQ(w->kind, "mutex");
    EXPECT_EQ(w->name, "m");
    EXPECT_TRUE(w->owners.empty());
    go.set();
    s.run();
}

TEST(waits, OBS_220_switching_off_forgets_the_owners) {
    stage s;
    event go;
    mutex m("m");
    set_owner_tracking(true);
    s.play(hold(m, go), "holder");
    set_owner_tracking(false);
    const tracked_owners on;
    s.play(take(m), "waiter");
    EXPECT_TRUE(find(waits(s.root), "waiter")->owners.empty());
    go.set();
    s.run();
}

TEST(waits, OBS_221_lists_suspended_jobs_with_what_they_wait_on_and_its_owner) {
    const tracked_owners on;
    stage s;
    event go("go");
    mutex m("accounts");
    const job holder = s.play(hold(m, go), "holder");
    s.play(take(m), "waiter");
    s.play(join(holder), "joiner");
    s.play(sleep(), "sleeper");
    const auto all = waits(s.root);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(find(all, "holder")->kind, "event");
    EXPECT_EQ(find(all, "holder")->target, &go);
    EXPECT_TRUE(find(all, "holder")->since.has_value());
    const waiting_job* w = find(all, "waiter");
    EXPECT_EQ(w->target, &m);
    ASSERT_EQ(w->owners.size(), 1U);
    EXPECT_EQ(w->owners[0].job, holder.tree_node());
    EXPECT_EQ(w->owners[0].permits, 1U);
    EXPECT_FALSE(w->owners[0].has_moved);
    ASSERT_TRUE(w->owners[0].since.has_value());
    EXPECT_LE(*w->owners[0].since, now());
    EXPECT_NE(w->to_string().find("job 'waiter' ("), std::string::npos) << w->to_string();
    EXPECT_NE(w->to_string().find("waits on mutex 'accounts' (held "), std::string::npos) << w->to_string();
    EXPECT_NE(w->to_string().find("by job 'holder' ("), std::string::npos) << w->to_string();
    ASSERT_EQ(find(all, "joiner")->owners.size(), 1U);
    EXPECT_EQ(find(all, "joiner")->owners[0].job, holder.tree_node());
    EXPECT_EQ(waits(s.root, 2).size(), 2U);
    EXPECT_TRUE(waits(node()).empty());
    EXPECT_TRUE(find_cycles(s.root).empty());
    go.set();
    s.advance(1s);
}

TEST(waits, OBS_221_an_unlocked_mutex_and_an_empty_guard_have_no_owner) {
    const tracked_owners on;
    stage s;
    event go;
    mutex m;
    semaphore limit(2);
    shared_mutex table;
    s.play(release_all(m, limit, table, go));
    std::size_t known = 0;
    const auto count = [](void* n, const detail::holding&) noexcept { ++*static_cast<std::size_t*>(n); };
    for (const void* of :
         {static_cast<const void*>(&m), static_cast<const void*>(&limit), static_cast<const void*>(&table)}) {
        detail::holdings::visit(of, &known, count);
    }
    EXPECT_EQ(known, 0U);
    go.set();
}

TEST(waits, OBS_222_a_handle_that_has_moved_may_be_held_by_another_job) {
    const tracked_owners on;
    stage s;
    event go;
    mutex m("m");
    std::optional<mutex::guard> outside;
    const job taker = s.play(move_out(m, outside, go), "taker");
    const auto all = waits(s.root);
    const waiting_job* w = find(all, "taker");
    ASSERT_NE(w, nullptr);
    ASSERT_EQ(w->owners.size(), 1U);
    EXPECT_TRUE(w->owners[0].has_moved);
    EXPECT_EQ(w->owners[0].job, taker.tree_node());
    EXPECT_NE(w->to_string().find("taken by job 'taker'"), std::string::npos) << w->to_string();
    EXPECT_TRUE(find_cycles(s.root).empty());
    outside.reset();
    s.run();
    go.set();
    s.run();
}

TEST(waits, OBS_222_try_lock_and_threads_leave_the_owner_unknown) {
    const tracked_owners on;
    stage s;
    mutex m("m");
    auto here = m.try_lock();
    s.play(take(m), "waiter");
    const auto all = waits(s.root);
    ASSERT_EQ(find(all, "waiter")->owners.size(), 1U);
    EXPECT_FALSE(find(all, "waiter")->owners[0].job);
    EXPECT_FALSE(find(all, "waiter")->owners[0].has_moved);
    here.unlock();
    s.run();
}

// --- text ------------------------------------------------------------------------------------------------------------------

TEST(waits, OBS_228_dumps_name_the_holder) {
    const tracked_owners on;
    stage s;
    event go;
    mutex m("accounts");
    s.play(hold(m, go), "transfer");
    s.play(take(m), "waiter");
    const std::string text = dump(s.root);
    EXPECT_NE(text.find("waits on mutex 'accounts' (held "), std::string::npos) << text;
    EXPECT_NE(text.find(" by job 'transfer'"), std::string::npos) << text;
    go.set();
    s.run();
}

TEST(waits, OBS_228_reports_and_snapshots_name_the_holder) {
    const tracked_owners on;
    stage s;
    event go;
    mutex m("accounts");
    s.play(hold(m, go), "transfer");
    for (int i = 0; i < 3; ++i) {
        s.play(take(m), "waiter");
    }
    const std::string report = detail::report_of(detail::tree_access::core_of(s.root.tree_node())).to_string();
    EXPECT_NE(report.find("all wait on mutex 'accounts' (held "), std::string::npos) << report;
    const tree_snapshot all = snapshot(s.root.tree_node(), snapshot_options().name("waiter"));
    ASSERT_EQ(all.rows().size(), 3U);
    EXPECT_TRUE(all.rows()[0].held_by.starts_with("held ")) << all.rows()[0].held_by;
    EXPECT_NE(all.to_text().find("waits on mutex 'accounts' (held "), std::string::npos) << all.to_text();
    EXPECT_NE(all.to_json().find(R"("held_by":"held )"), std::string::npos) << all.to_json();
    EXPECT_NE(dump(s.root).find("3 x job 'waiter'"), std::string::npos) << "the age of a holding splits no group";
    go.set();
    s.run();
}

TEST(waits, OBS_228_a_woken_waiter_of_a_destroyed_mutex_has_no_owner) {
    const tracked_owners on;
    stage s;
    const std::unique_ptr<mutex> first(new mutex("first"));
    auto held = first->try_lock();
    s.play(lock_and_detach(*first), "woken");
    held.unlock();  // handed over; the waiter has not run
    const void* was_at = first.get();
    const auto count = [](void* n, const detail::holding&) noexcept { ++*static_cast<std::size_t*>(n); };
    std::size_t known = 0;
    detail::holdings::visit(was_at, &known, count);
    EXPECT_EQ(known, 0U);
    const auto all = waits(s.root);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_TRUE(all[0].owners.empty());
    EXPECT_EQ(dump(s.root).find("held"), std::string::npos);
    s.run();
    first->unlock();
}

}  // namespace
