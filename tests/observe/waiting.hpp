#pragma once

// Bodies that take and wait, for the tests of waits() and find_cycles().

#include <roost/flow/race.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/observe/dump.hpp>
#include <roost/observe/waits.hpp>
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

namespace waiting {

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

inline task<> hold(mutex& m, event& until) {
    auto mine = co_await m.lock();
    co_await until.wait();
}
inline task<> take(mutex& m) { auto mine = co_await m.lock(); }
inline task<> take_both(mutex& first, mutex& second, event& go) {
    auto one = co_await first.lock();
    co_await go.wait();
    auto two = co_await second.lock();
}

inline task<> release_all(mutex& m, semaphore& limit, shared_mutex& table, event& go) {
    auto held = co_await m.lock();
    auto permit = co_await limit.acquire(2);
    auto writing = co_await table.lock();
    held.unlock();
    permit.give_back();
    writing.unlock();
    co_await go.wait();
}
inline task<> move_out(mutex& m, std::optional<mutex::guard>& to, event& go) {
    auto held = co_await m.lock();
    to.emplace(std::move(held));
    auto again = co_await m.lock();  // waits for what another owner will give back
    co_await go.wait();
}
inline task<> join(job j) { co_await j.join(); }
inline task<> sleep() { co_await sleep_for(1s); }
inline task<> wait_for(event& e) { co_await e.wait(); }
inline task<> lock_then_acquire(mutex& m, semaphore& limit, event& go) {
    auto held = co_await m.lock();
    co_await go.wait();
    auto permit = co_await limit.acquire();
}
inline task<> acquire_then_join(semaphore& limit, job& third, event& go) {
    auto permit = co_await limit.acquire();
    co_await go.wait();
    co_await third.join();
}
inline task<> take_later(mutex& m, event& go) {
    co_await go.wait();
    auto held = co_await m.lock();
}
inline task<> acquire_twice(semaphore& one) {
    auto first = co_await one.acquire();
    auto again = co_await one.acquire();
}
inline task<> read_then_lock(shared_mutex& table, mutex& m, event& go) {
    auto reading = co_await table.lock_shared();
    co_await go.wait();
    auto held = co_await m.lock();
}
inline task<> lock_then_write(shared_mutex& table, mutex& m, event& go) {
    auto held = co_await m.lock();
    co_await go.wait();
    auto writing = co_await table.lock();
}
inline task<> child_takes(scope& s, mutex& m) {
    s.launch("child", take(m));
    co_return;
}
inline task<> lock_around_scope(mutex& m) {
    auto held = co_await m.lock();
    co_await with_scope(scope_options("inner"), child_takes, std::ref(m));
}
inline task<> scope_only(mutex& m) { co_await with_scope(scope_options("inner"), child_takes, std::ref(m)); }
inline task<> lock_around_all(mutex& m, event& go) {
    auto held = co_await m.lock();
    co_await when_all(take(m), wait_for(go));
}
inline task<> lock_around_race(mutex& m, event& go) {
    auto held = co_await m.lock();
    static_cast<void>(co_await race(take(m), wait_for(go)));
}
inline task<> lock_then_join(mutex& m, job& waited, event& go) {
    auto held = co_await m.lock();
    co_await go.wait();
    co_await waited.join();
}
inline task<> wait_condition(mutex& m, condition& changed) {
    auto held = co_await m.lock();
    co_await changed.wait(held);
    held.unlock();
}
inline task<> acquire_once(pool<int>& db) { auto held = co_await db.acquire(); }
inline task<> lock_and_detach(mutex& m) {
    auto held = co_await m.lock();
    held.release();
}

inline const waiting_job* find(const std::vector<waiting_job>& all, std::string_view job) {
    for (const waiting_job& w : all) {
        if (w.job.name() == job) {
            return &w;
        }
    }
    return nullptr;
}

inline testing::AssertionResult is_cycle(const std::vector<wait_cycle>& found,
                                         std::initializer_list<std::string_view> jobs) {
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

}  // namespace waiting
