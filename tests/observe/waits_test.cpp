#include <roost/observe/waits.hpp>

#include <roost/flow/race.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/observe/dump.hpp>
#include <roost/pool/pool.hpp>
#include <roost/sync/condition.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/shared_mutex.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>

#include "../task/rig.hpp"

#include <memory>
#include <optional>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;
using rig::stage;

// Tracks owners while it exists.
class tracked_owners {
public:
    tracked_owners() : before_(set_owner_tracking(true)) {}
    ~tracked_owners() { set_owner_tracking(before_); }

private:
    bool before_;
};

task<> hold(mutex& m, event& until) {
    auto mine = co_await m.lock();
    co_await until.wait();
}
task<> take(mutex& m) { auto mine = co_await m.lock(); }
task<> take_both(mutex& first, mutex& second, event& go) {
    auto one = co_await first.lock();
    co_await go.wait();
    auto two = co_await second.lock();
}

task<> release_all(mutex& m, semaphore& limit, shared_mutex& table, event& go) {
    auto held = co_await m.lock();
    auto permit = co_await limit.acquire(2);
    auto writing = co_await table.lock();
    held.unlock();
    permit.give_back();
    writing.unlock();
    co_await go.wait();
}
task<> move_out(mutex& m, std::optional<mutex::guard>& to, event& go) {
    auto held = co_await m.lock();
    to.emplace(std::move(held));
    auto again = co_await m.lock();  // waits for what another owner will give back
    co_await go.wait();
}
task<> join(job j) { co_await j.join(); }
task<> sleep() { co_await sleep_for(1s); }
task<> wait_for(event& e) { co_await e.wait(); }
task<> lock_then_acquire(mutex& m, semaphore& limit, event& go) {
    auto held = co_await m.lock();
    co_await go.wait();
    auto permit = co_await limit.acquire();
}
task<> acquire_then_join(semaphore& limit, job& third, event& go) {
    auto permit = co_await limit.acquire();
    co_await go.wait();
    co_await third.join();
}
task<> take_later(mutex& m, event& go) {
    co_await go.wait();
    auto held = co_await m.lock();
}
task<> acquire_twice(semaphore& one) {
    auto first = co_await one.acquire();
    auto again = co_await one.acquire();
}
task<> read_then_lock(shared_mutex& table, mutex& m, event& go) {
    auto reading = co_await table.lock_shared();
    co_await go.wait();
    auto held = co_await m.lock();
}
task<> lock_then_write(shared_mutex& table, mutex& m, event& go) {
    auto held = co_await m.lock();
    co_await go.wait();
    auto writing = co_await table.lock();
}
task<> child_takes(scope& s, mutex& m) {
    s.launch("child", take(m));
    co_return;
}
task<> lock_around_scope(mutex& m) {
    auto held = co_await m.lock();
    co_await with_scope(scope_options("inner"), child_takes, std::ref(m));
}
task<> scope_only(mutex& m) { co_await with_scope(scope_options("inner"), child_takes, std::ref(m)); }
task<> lock_around_all(mutex& m, event& go) {
    auto held = co_await m.lock();
    co_await when_all(take(m), wait_for(go));
}
task<> lock_around_race(mutex& m, event& go) {
    auto held = co_await m.lock();
    co_await race(take(m), wait_for(go));
}
task<> lock_then_join(mutex& m, job& waited, event& go) {
    auto held = co_await m.lock();
    co_await go.wait();
    co_await waited.join();
}
task<> wait_condition(mutex& m, condition& changed) {
    auto held = co_await m.lock();
    co_await changed.wait(held);
    held.unlock();
}
task<> acquire_once(pool<int>& db) { auto held = co_await db.acquire(); }
task<> lock_and_detach(mutex& m) {
    auto held = co_await m.lock();
    held.release();
}

const waiting_job* find(const std::vector<waiting_job>& all, std::string_view job) {
    for (const waiting_job& w : all) {
        if (w.job.name() == job) {
            return &w;
        }
    }
    return nullptr;
}

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
    for (const void* of : {static_cast<const void*>(&m), static_cast<const void*>(&limit), static_cast<const void*>(&table)}) {
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
    const job taker = s.play(
        move_out(m, outside, go),
        "taker");
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

// --- cycles ----------------------------------------------------------------------------------------------------------------

testing::AssertionResult is_cycle(const std::vector<wait_cycle>& found, std::initializer_list<std::string_view> jobs) {
    if (found.size() != 1 || found[0].jobs.size() != jobs.size()) {
        auto failed = testing::AssertionFailure() << found.size() << " cycles\n";
        for (const wait_cycle& c : found) {
            failed << c.to_string();
        }
        return failed;
    }
    for (const std::string_view name : jobs) {
        if (find(found[0].jobs, name) == nullptr) {
            return testing::AssertionFailure() << "without " << name << ": " << found[0].to_string();
        }
    }
    return testing::AssertionSuccess();
}

TEST(waits, OBS_223_two_jobs_and_two_mutexes) {
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

TEST(waits, OBS_223_a_mutex_a_semaphore_and_a_join) {
    const tracked_owners on;
    stage s;
    event go;
    mutex m("accounts");
    semaphore limit(1, "uploads");
    job third;
    const job first = s.play(
        lock_then_acquire(m, limit, go),
        "first");
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
    EXPECT_NE(text.find("waits on job 'third' (job 'third' (waits_test.cpp:" + std::to_string(third_line) + "))"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("job 'second' (waits_test.cpp:" + std::to_string(second_line) + ")"), std::string::npos) << text;
    EXPECT_NE(text.find("job 'first' (rig.hpp:"), std::string::npos) << text;
    first.cancel();
    s.run();
}

TEST(waits, OBS_223_a_job_that_waits_for_its_own_lock) {
    const tracked_owners on;
    stage s;
    mutex m("m");
    semaphore one(1, "one");
    const job j = s.play(acquire_twice(one), "selfish");
    ASSERT_TRUE(is_cycle(find_cycles(s.root), {"selfish"}));
    j.cancel();
    s.run();
}

TEST(waits, OBS_223_readers_and_a_writer) {
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

TEST(waits, OBS_224_a_semaphore_is_a_deadlock_only_if_all_its_holders_are_in_it) {
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

TEST(waits, OBS_224_permits_with_an_unknown_owner_may_be_released) {
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

TEST(waits, OBS_225_a_scope_waits_for_its_children) {
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

TEST(waits, OBS_225_when_all_waits_for_each_and_a_race_does_not) {
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

TEST(waits, OBS_225_a_job_ends_only_when_its_children_have_ended) {
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

TEST(waits, OBS_226_a_waiting_condition_does_not_hold_its_mutex) {
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

TEST(waits, OBS_227_a_pool_that_its_holders_wait_for) {
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
