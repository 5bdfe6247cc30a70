// Every operation: no allocation, no aggregate, try_cancel, and a name for reports.

#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/barrier.hpp>
#include <roost/sync/broadcast.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/condition.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/sync/latch.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/once.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/shared_mutex.hpp>
#include <roost/sync/waiter_queue.hpp>
#include <roost/sync/watch.hpp>

#include "coroutines.hpp"
#include "counted_memory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <optional>

long sync_testing::allocations = 0;
thread_local long sync_testing::allocations_left = -1;

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SYNC_TEST_KEEPS_OPERATORS
#endif
#endif
#if defined(SYNC_TEST_KEEPS_OPERATORS)
const bool sync_testing::memory_is_counted = false;
#else
const bool sync_testing::memory_is_counted = true;
// Kept out of line: once inlined, g++ 12 takes the pair for mismatched.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++sync_testing::allocations;
    if (sync_testing::allocations_left >= 0 && sync_testing::allocations_left-- == 0) {
        throw std::bad_alloc();
    }
    if (void* p = std::malloc(size == 0 ? 1 : size)) {
        return p;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace {

using namespace roost;
using namespace roost::ext;  // NOLINT: every primitive is named here
using sync_testing::allocations;

template <class Operation>
concept cancellable_operation = requires(Operation& o, const Operation& c, const resume_target& t) {
    { o.try_cancel() } noexcept -> std::same_as<bool>;
    { o.try_cancel(claim::expired) } noexcept -> std::same_as<bool>;
    { o.start(t) } noexcept -> std::same_as<bool>;
    { o.node() } noexcept -> std::same_as<waiter&>;
    { c.waits_on() } noexcept -> std::same_as<wait_target>;
} && !std::is_aggregate_v<Operation> && std::is_nothrow_move_constructible_v<Operation>;

constexpr auto never = [] { return false; };
static_assert(cancellable_operation<waiter_queue::operation<std::remove_const_t<decltype(never)>>>);
static_assert(cancellable_operation<event::operation> && cancellable_operation<auto_reset_event::operation>);
static_assert(cancellable_operation<latch::operation> && cancellable_operation<barrier::operation>);
static_assert(cancellable_operation<mutex::operation> && cancellable_operation<semaphore::operation>);
static_assert(cancellable_operation<shared_mutex::operation> && cancellable_operation<shared_mutex::shared_operation>);
static_assert(cancellable_operation<condition::operation> && cancellable_operation<once::operation>);
static_assert(cancellable_operation<channel<int>::send_operation> && cancellable_operation<channel<int>::receive_operation>);
static_assert(cancellable_operation<broadcast<int>::subscriber::operation>);
static_assert(cancellable_operation<watch<int>::observer::operation>);

// Registers, checks the report, cancels, and counts what that allocated.
template <class Operation>
void wait_and_cancel(Operation operation, std::string_view kind) {
    const resume_target nobody(nullptr, +[](work&) noexcept {}, {});
    const long before = allocations;
    ASSERT_TRUE(operation.start(nobody)) << kind;
    EXPECT_TRUE(operation.try_cancel()) << kind;
    EXPECT_EQ(allocations, before) << kind << ": a wait allocates nothing";
    EXPECT_EQ(operation.waits_on().kind(), kind);
    EXPECT_EQ(operation.waits_on().name(), "x") << kind;
}

TEST(wait_operation, SYNC_160_no_wait_allocates_and_every_wait_has_a_name) {
    waiter_queue queue("x");
    wait_and_cancel(queue.wait_unless(never), "waiter queue");
    event ev("x");
    wait_and_cancel(ev.wait(), "event");
    auto_reset_event ar("x");
    wait_and_cancel(ar.wait(), "auto_reset_event");
    latch la(1, "x");
    wait_and_cancel(la.wait(), "latch");
    barrier ba(2, "x");
    wait_and_cancel(ba.arrive_and_wait(), "barrier");
    mutex mu("x");
    auto held = mu.try_lock();
    wait_and_cancel(mu.lock(), "mutex");
    condition co("x");
    wait_and_cancel(co.wait(held), "condition");
    semaphore se(0, "x");
    wait_and_cancel(se.acquire(2), "semaphore");
    shared_mutex sm("x");
    auto writing = sm.try_lock();
    wait_and_cancel(sm.lock(), "shared_mutex");
    wait_and_cancel(sm.lock_shared(), "shared_mutex");
    once on("x");
    auto turn = on.try_enter();
    wait_and_cancel(on.enter(), "once");
    channel<int> ch(0, "x");
    wait_and_cancel(ch.send(1), "channel");
    wait_and_cancel(ch.receive(), "channel");
    broadcast<int> br(1, "x");
    auto subscriber = br.subscribe();
    wait_and_cancel(subscriber.receive(), "broadcast");
    watch<int> wa(1, "x");
    auto observer = wa.observe();
    wait_and_cancel(observer.changed(), "watch");
}

// A coroutine waits with `operation`; `wake` lets it through. Neither the wait nor the wake allocates.
template <class Operation, class Wake>
void wait_and_wake(Operation operation, Wake wake, const char* what) {
    int ran = 0;
    const auto run = +[](work& node) noexcept { ++*static_cast<int*>(static_cast<waiter&>(node).frame()); };
    const long before = allocations;
    ASSERT_TRUE(operation.start(resume_target(&ran, run, {}))) << what;
    wake();
    EXPECT_EQ(ran, 1) << what;
    static_cast<void>(operation.await_resume());
    EXPECT_EQ(allocations, before) << what << ": neither waiting nor waking allocates";
}

TEST(wait_operation, SYNC_160_waking_allocates_nothing) {
    waiter_queue queue;
    wait_and_wake(queue.wait_unless(never), [&] { queue.wake_one(); }, "waiter_queue::wake_one");
    wait_and_wake(queue.wait_unless(never), [&] { queue.wake_n(2); }, "waiter_queue::wake_n");
    wait_and_wake(queue.wait_unless(never), [&] { queue.wake_all(); }, "waiter_queue::wake_all");
    mutex mu;
    auto held = mu.try_lock();
    wait_and_wake(mu.lock(), [&] { held.unlock(); }, "mutex");
    semaphore se(0);
    wait_and_wake(se.acquire(2), [&] { se.add_permits(2); }, "semaphore::add_permits");
    auto permit = se.try_acquire(2);
    wait_and_wake(se.acquire(), [&] { permit.give_back(); }, "semaphore, a permit given back");
    shared_mutex sm;
    auto writing = sm.try_lock();
    wait_and_wake(sm.lock_shared(), [&] { writing.unlock(); }, "shared_mutex, a reader");
    auto reading = sm.try_lock_shared();
    wait_and_wake(sm.lock(), [&] { reading.unlock(); }, "shared_mutex, a writer");
    once on;
    auto turn = on.try_enter();
    wait_and_wake(on.enter(), [&] { turn.done(); }, "once");
}

TEST(wait_operation, SYNC_160_waking_everybody_allocates_nothing) {
    event ev;
    wait_and_wake(ev.wait(), [&] { ev.set(); }, "event");
    auto_reset_event ar;
    wait_and_wake(ar.wait(), [&] { ar.set(); }, "auto_reset_event");
    latch la(1);
    wait_and_wake(la.wait(), [&] { la.count_down(); }, "latch");
    barrier ba(2);
    wait_and_wake(ba.arrive_and_wait(), [&] { static_cast<void>(ba.arrive()); }, "barrier");
    wait_and_wake(ba.wait(ba.arrive()), [&] { static_cast<void>(ba.arrive()); }, "barrier, a phase");
    mutex mu;
    condition co;
    auto held = mu.try_lock();
    wait_and_wake(co.wait(held), [&] { co.notify_one(); }, "condition::notify_one");
    wait_and_wake(co.wait(held), [&] { co.notify_all(); }, "condition::notify_all");
}

TEST(wait_operation, SYNC_160_handing_values_over_allocates_nothing) {
    for (const std::size_t limit : {std::size_t{0}, std::size_t{1}}) {
        channel<int> ch(limit);
        wait_and_wake(ch.receive(), [&] { EXPECT_TRUE(ch.try_send(1)); }, "channel, a value");
        if (limit == 1) {
            EXPECT_TRUE(ch.try_send(1));
        }
        wait_and_wake(ch.send(1), [&] { EXPECT_TRUE(ch.try_receive()); }, "channel, a place");
        while (ch.try_receive()) {}
        wait_and_wake(ch.receive(), [&] { ch.close(); }, "channel, the end");
    }
    broadcast<int> br(1);
    auto subscriber = br.subscribe();
    wait_and_wake(subscriber.receive(), [&] { br.send(1); }, "broadcast");
    wait_and_wake(subscriber.receive(), [&] { br.close(); }, "broadcast, the end");
    watch<int> wa(1);
    auto observer = wa.observe();
    wait_and_wake(observer.changed(), [&] { wa.set(2); }, "watch");
    EXPECT_EQ(observer.get(), 2);
    wait_and_wake(observer.changed(), [&] { wa.close(); }, "watch, the end");
}

template <class Wait>
void end(Wait& wait) {
    EXPECT_FALSE(wait.await_resume());
}

// Every wait once with a stop that comes and once with a deadline that passes.
template <class Make>
void stop_and_expire(Make make, const char* what) {
    sync_testing::hand_executor executor;
    sync_testing::hand_timers timers;
    std::stop_source source;
    int ran = 0;
    const auto run = +[](work& node) noexcept { ++*static_cast<int*>(static_cast<waiter&>(node).frame()); };
    const resume_target target(&ran, run, executor);
    auto stoppable = with_stop(make(), source.get_token());
    const long before = allocations;
    ASSERT_TRUE(stoppable.start(target)) << what;
    source.request_stop();
    EXPECT_EQ(executor.run(), 1) << what;
    end(stoppable);
    EXPECT_EQ(allocations, before) << what << ": stopped";
    auto timed = with_deadline(make(), timers.now() + std::chrono::seconds(1), executor, timers);
    const long between = allocations;
    ASSERT_TRUE(timed.start(target)) << what;
    timers.advance(std::chrono::seconds(2));
    EXPECT_EQ(executor.run(), 1) << what;
    end(timed);
    EXPECT_EQ(allocations, between) << what << ": expired";
    EXPECT_EQ(ran, 2) << what;
}

TEST(wait_operation, SYNC_160_stop_and_deadline_forms_allocate_nothing) {
    waiter_queue queue;
    stop_and_expire([&] { return queue.wait_unless(never); }, "waiter_queue");
    event ev;
    stop_and_expire([&] { return ev.wait(); }, "event");
    auto_reset_event ar;
    stop_and_expire([&] { return ar.wait(); }, "auto_reset_event");
    latch la(9);
    stop_and_expire([&] { return la.wait(); }, "latch");
    stop_and_expire([&] { return la.arrive_and_wait(); }, "latch, an arrival");
    barrier ba(9);
    stop_and_expire([&] { return ba.arrive_and_wait(); }, "barrier");
    mutex mu;
    auto held = mu.try_lock();
    stop_and_expire([&] { return mu.lock(); }, "mutex");
    condition co;
    mutex other;
    mutex::guard inside;
    stop_and_expire([&] { return inside = other.try_lock(), co.wait(inside); }, "condition");
    semaphore se(0);
    stop_and_expire([&] { return se.acquire(2); }, "semaphore");
    shared_mutex sm;
    auto writing = sm.try_lock();
    stop_and_expire([&] { return sm.lock(); }, "shared_mutex, a writer");
    stop_and_expire([&] { return sm.lock_shared(); }, "shared_mutex, a reader");
    once on;
    auto turn = on.try_enter();
    stop_and_expire([&] { return on.enter(); }, "once");
    channel<int> ch(0);
    stop_and_expire([&] { return ch.send(1); }, "channel, a send");
    stop_and_expire([&] { return ch.receive(); }, "channel, a receive");
    broadcast<int> br(1);
    auto subscriber = br.subscribe();
    stop_and_expire([&] { return subscriber.receive(); }, "broadcast");
    watch<int> wa(1);
    auto observer = wa.observe();
    stop_and_expire([&] { return observer.changed(); }, "watch");
}

// A thread waits until its deadline passes.
template <class Block>
void block_and_expire(Block block, const char* what) {
    const long before = allocations;
    EXPECT_FALSE(block(now() + std::chrono::microseconds(50))) << what;
    EXPECT_EQ(allocations, before) << what << ": a blocking wait allocates nothing";
}

TEST(wait_operation, SYNC_160_blocking_forms_allocate_nothing) {
    waiter_queue queue;
    block_and_expire([&](time_point t) { return queue.wait_blocking(never, t); }, "waiter_queue");
    event ev;
    block_and_expire([&](time_point t) { return ev.wait_blocking(t); }, "event");
    auto_reset_event ar;
    block_and_expire([&](time_point t) { return ar.wait_blocking(t); }, "auto_reset_event");
    latch la(9);
    block_and_expire([&](time_point t) { return la.wait_blocking(t); }, "latch");
    block_and_expire([&](time_point t) { return la.arrive_and_wait_blocking(t); }, "latch, an arrival");
    barrier ba(9);
    block_and_expire([&](time_point t) { return ba.arrive_and_wait_blocking(t); }, "barrier");
    mutex mu;
    auto held = mu.try_lock();
    block_and_expire([&](time_point t) { return static_cast<bool>(mu.lock_blocking(t)); }, "mutex");
    condition co;
    block_and_expire([&](time_point t) { return co.wait_blocking(held, t); }, "condition");
    block_and_expire([&](time_point t) { return co.wait_blocking(held, never, t); }, "condition, a predicate");
    semaphore se(0);
    block_and_expire([&](time_point t) { return static_cast<bool>(se.acquire_blocking(1, t)); }, "semaphore");
    shared_mutex sm;
    auto writing = sm.try_lock();
    block_and_expire([&](time_point t) { return static_cast<bool>(sm.lock_blocking(t)); }, "shared_mutex, a writer");
    block_and_expire([&](time_point t) { return static_cast<bool>(sm.lock_shared_blocking(t)); }, "shared_mutex, a reader");
    once on;
    auto turn = on.try_enter();
    block_and_expire([&](time_point t) { return on.enter_blocking(t).is_mine(); }, "once");
    block_and_expire([&](time_point t) { return on.call_blocking([] {}, t); }, "once, a call");
    channel<int> ch(0);
    block_and_expire([&](time_point t) { return static_cast<bool>(ch.send_blocking(1, t)); }, "channel, a send");
    block_and_expire([&](time_point t) { return static_cast<bool>(ch.receive_blocking(t)); }, "channel, a receive");
    broadcast<int> br(1);
    auto subscriber = br.subscribe();
    block_and_expire([&](time_point t) { return static_cast<bool>(subscriber.receive_blocking(t)); }, "broadcast");
    watch<int> wa(1);
    auto observer = wa.observe();
    block_and_expire([&](time_point t) { return observer.changed_blocking(t); }, "watch");
}

// One of two that are woken together destroys the other before that has run.
TEST(wait_operation_death, SYNC_175_destroyed_while_it_is_being_woken) {
    using second_wait = std::optional<event::operation>;
    EXPECT_DEATH(
        {
            event e("ready");
            second_wait second(e.wait());
            event::operation first = e.wait();
            const auto destroy =
                +[](work& node) noexcept { static_cast<second_wait*>(static_cast<waiter&>(node).frame())->reset(); };
            const bool waits = first.start(resume_target(&second, destroy, {})) &&
                               second->start(resume_target(nullptr, +[](work&) noexcept {}, {}));
            if (waits) {
                e.set();
            }
        },
        "event 'ready'.*was destroyed while another thread was waking it: call try_cancel");
}

}  // namespace
