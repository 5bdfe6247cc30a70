// The cycles that find_cycles() reports, and those that are none.
#include "waiting.hpp"

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;
using namespace waiting;
using rig::stage;

// --- cycles ----------------------------------------------------------------------------------------------------------------

TEST(waits_cycles, OBS_223_two_jobs_and_two_mutexes) {
    const tracked_owners on;
    stage s;
    event go;
    mutex accounts("accounts");
    mutex ledger("ledger");
    const job transfer = s.play(take_both(ledger, accounts, go), "transfer");
    s.play(take_both(accounts, ledger, go), "audit");
    s.play(take(ledger), "third");  // waits, and is in no cycle
    EXPECT_TRUE(find_cycles(s.root).empty());
    go.set();
    s.run();
    const auto found = find_cycles(s.root);
    ASSERT_TRUE(is_cycle(found, {"transfer", "audit"}));
    EXPECT_EQ(found[0].jobs[0].owners.at(0).job, found[0].jobs[1].job);
    EXPECT_EQ(found[0].jobs[1].owners.at(0).job, found[0].jobs[0].job);
    const std::string text = found[0].to_string();
    EXPECT_EQ(text.find("deadlock of 2 jobs:\n  job '"), 0U) << text;
    EXPECT_NE(text.find("waits on mutex 'accounts' (held "), std::string::npos) << text;
    transfer.cancel();
    s.run();
    EXPECT_TRUE(find_cycles(s.root).empty());
}

TEST(waits_cycles, OBS_223_a_mutex_a_semaphore_and_a_join) {
    const tracked_owners on;
    stage s;
    event go;
    mutex m("accounts");
    semaphore limit(1, "uploads");
    job third;
    const job first = s.play(lock_then_acquire(m, limit, go), "first");
    const std::uint32_t second_line = __LINE__ + 1;
    const job second = s.root.launch("second", acquire_then_join(limit, third, go));
    s.run();
    const std::uint32_t third_line = __LINE__ + 1;
    third = s.root.launch("third", take_later(m, go));
    s.run();
    EXPECT_TRUE(find_cycles(s.root).empty());
    go.set();
    s.run();
    const auto found = find_cycles(s.root);
    ASSERT_TRUE(is_cycle(found, {"first", "second", "third"}));
    const std::string text = found[0].to_string();
    EXPECT_NE(text.find("waits on mutex 'accounts' (held "), std::string::npos) << text;
    EXPECT_NE(text.find("waits on semaphore 'uploads' (held "), std::string::npos) << text;
    EXPECT_NE(text.find("waits on job 'third' (job 'third' (waits_cycles_test.cpp:" + std::to_string(third_line) + "))"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("job 'second' (waits_cycles_test.cpp:" + std::to_string(second_line) + ")"), std::string::npos)
        << text;
    EXPECT_NE(text.find("job 'first' (rig.hpp:"), std::string::npos) << text;
    for (const waiting_job& j : found[0].jobs) {  // the line of each await, and of the await that took what is held
        EXPECT_TRUE(std::string_view(j.at.file()).ends_with("waiting.hpp")) << text;
        EXPECT_GT(j.at.line(), 0U);
        ASSERT_FALSE(j.owners.empty());
        EXPECT_EQ(j.owners[0].taken_at.is_known(), j.kind != "job") << text;
    }
    EXPECT_NE(found[0].jobs[0].at.line(), found[0].jobs[1].at.line());
    EXPECT_NE(found[0].jobs[1].at.line(), found[0].jobs[2].at.line());
    first.cancel();
    s.run();
}

TEST(waits_cycles, OBS_223_a_job_that_waits_for_its_own_lock) {
    const tracked_owners on;
    stage s;
    mutex m("m");
    semaphore one(1, "one");
    const job j = s.play(acquire_twice(one), "selfish");
    ASSERT_TRUE(is_cycle(find_cycles(s.root), {"selfish"}));
    j.cancel();
    s.run();
}

TEST(waits_cycles, OBS_223_readers_and_a_writer) {
    const tracked_owners on;
    stage s;
    event go;
    shared_mutex table("table");
    mutex m("m");
    const job reader = s.play(read_then_lock(table, m, go), "reader");
    s.play(lock_then_write(table, m, go), "writer");
    go.set();
    s.run();
    ASSERT_TRUE(is_cycle(find_cycles(s.root), {"reader", "writer"}));
    reader.cancel();
    s.run();
}

// --- knots ----------------------------------------------------------------------------------------------------------------

task<> nested(semaphore& limit, event& go) {
    auto outer = co_await limit.acquire();
    co_await go.wait();
    auto inner = co_await limit.acquire();
}

TEST(waits_cycles, OBS_224_a_semaphore_is_a_deadlock_only_if_all_its_holders_are_in_it) {
    const tracked_owners on;
    stage s;
    event go;
    event later("later");
    semaphore limit(3, "limit");
    const job first = s.play(nested(limit, go), "first");
    s.play(nested(limit, go), "second");
    s.play(nested(limit, later), "third");
    go.set();
    s.run();
    EXPECT_TRUE(find_cycles(s.root).empty());
    later.set();
    s.run();
    ASSERT_TRUE(is_cycle(find_cycles(s.root), {"first", "second", "third"}));
    limit.add_permits(1);
    s.run();
    EXPECT_TRUE(find_cycles(s.root).empty());
    EXPECT_TRUE(first.is_finished());
}

TEST(waits_cycles, OBS_224_permits_with_an_unknown_owner_may_be_released) {
    const tracked_owners on;
    stage s;
    event go;
    semaphore limit(2, "limit");
    auto outside = limit.try_acquire();
    s.play(nested(limit, go), "job");
    go.set();
    s.run();
    EXPECT_TRUE(find_cycles(s.root).empty());
    outside.give_back();
    s.run();
}

// --- structure ------------------------------------------------------------------------------------------------------------

TEST(waits_cycles, OBS_225_a_scope_waits_for_its_children) {
    const tracked_owners on;
    stage s;
    mutex m("m");
    const job parent = s.play(lock_around_scope(m), "parent");
    const auto found = find_cycles(s.root);
    ASSERT_TRUE(is_cycle(found, {"parent", "child"}));
    EXPECT_NE(found[0].to_string().find("waits on the end of scope 'inner'"), std::string::npos) << found[0].to_string();
    parent.cancel();
    s.run();
}

TEST(waits_cycles, OBS_225_when_all_waits_for_each_and_a_race_does_not) {
    const tracked_owners on;
    stage s;
    mutex m("m");
    event go;
    const job all = s.play(lock_around_all(m, go), "all");
    ASSERT_EQ(find_cycles(s.root).size(), 1U);
    EXPECT_NE(find(find_cycles(s.root)[0].jobs, "all"), nullptr);
    all.cancel();
    s.run();
    const job one = s.play(lock_around_race(m, go), "one");
    EXPECT_TRUE(find_cycles(s.root).empty());
    go.set();
    s.run();
    EXPECT_TRUE(one.is_finished());
}

TEST(waits_cycles, OBS_225_a_job_ends_only_when_its_children_have_ended) {
    const tracked_owners on;
    stage s;
    mutex m("m");
    job waited;
    event go;
    s.play(lock_then_join(m, waited, go), "holder");
    waited = s.play(scope_only(m), "waited");
    go.set();
    s.run();
    const auto found = find_cycles(s.root);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(find(found[0].jobs, "holder"), nullptr);
    EXPECT_NE(find(found[0].jobs, "child"), nullptr) << found[0].to_string();
    waited.cancel();
    s.run();
}

// --- conditions ------------------------------------------------------------------------------------------------------------

TEST(waits_cycles, OBS_226_a_waiting_condition_does_not_hold_its_mutex) {
    const tracked_owners on;
    stage s;
    mutex m("m");
    condition changed("changed");
    event go;
    s.play(wait_condition(m, changed), "waits");
    s.play(hold(m, go), "holder");
    const auto before = waits(s.root);
    EXPECT_EQ(find(before, "waits")->kind, "condition");
    changed.notify_one();
    s.play(take(m), "third");
    const auto all = waits(s.root);
    const waiting_job* w = find(all, "waits");
    ASSERT_NE(w, nullptr);
    EXPECT_EQ(w->target, &m);  // in the queue of its mutex
    ASSERT_EQ(w->owners.size(), 1U);
    EXPECT_EQ(w->owners[0].job.name(), "holder");
    go.set();
    s.run();
}

// --- pools -----------------------------------------------------------------------------------------------------------------

task<> nested_pool(pool<int>& db, event& go) {
    auto outer = (co_await db.acquire()).value();
    co_await go.wait();
    auto inner = (co_await db.acquire()).value();
}

TEST(waits_cycles, OBS_227_a_pool_that_its_holders_wait_for) {
    const tracked_owners on;
    stage s;
    event go;
    pool<int> db(pool_options(2, "db"), [] { return 1; });
    const job first = s.play(nested_pool(db, go), "first");
    const job second = s.play(nested_pool(db, go), "second");
    s.play(acquire_once(db), "third");
    EXPECT_TRUE(find_cycles(s.root).empty());
    go.set();
    s.run();
    const auto found = find_cycles(s.root);
    ASSERT_TRUE(is_cycle(found, {"first", "second"}));
    const std::string text = dump(s.root);
    EXPECT_NE(text.find("waits on pool 'db' (2 of 2 out, oldest held "), std::string::npos) << text;
    EXPECT_NE(text.find(" by job 'first'"), std::string::npos) << text;
    first.cancel();
    s.run();
    EXPECT_TRUE(find_cycles(s.root).empty());
    second.cancel();
    s.run();
}

}  // namespace
