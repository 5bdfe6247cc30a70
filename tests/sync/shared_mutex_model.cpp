// Every interleaving of readers and writers (SYNC-70 .. SYNC-75).

#include <roost/sync/shared_mutex.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"

namespace {

using roost::shared_mutex;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::held_operation;

fire write_one(shared_mutex& m, plain<int>& shared) {
    auto writing = co_await m.lock();
    shared.set(shared.get() + 1);
}

fire read(shared_mutex& m, plain<int>& shared, plain<int>& seen) {
    auto reading = co_await m.lock_shared();
    seen.set(shared.get() + 1);
}

[[nodiscard]] bool is_free(shared_mutex& m) { return !m.is_locked() && m.readers_now() == 0 && m.waiters_now() == 0; }

// A writer and a reader: the plain value sees a race if they are ever inside together.
MODEL_COMPLETE(shared_mutex_model, writer_excludes_reader) {
    shared_mutex m;
    plain<int> shared{0};
    plain<int> seen{0};
    thread writer([&] { write_one(m, shared); });
    read(m, shared, seen);
    writer.join();
    check(shared.get() == 1 && seen.get() >= 1, "SYNC-70: both were inside");
    check(is_free(m), "SYNC-70: nothing is lost or doubled");
}

// The same for threads that block.
MODEL_COMPLETE(shared_mutex_model, blocking_writer_and_reader) {
    shared_mutex m;
    plain<int> shared{0};
    thread writer([&] {
        auto writing = m.lock_blocking();
        shared.set(1);
    });
    {
        auto reading = m.lock_shared_blocking();
        check(shared.get() >= 0, "");
    }
    writer.join();
    check(shared.get() == 1 && is_free(m), "SYNC-70");
}

// Two writers hand over.
MODEL_COMPLETE(shared_mutex_model, writers_hand_over) {
    shared_mutex m;
    plain<int> shared{0};
    thread other([&] { write_one(m, shared); });
    write_one(m, shared);
    other.join();
    check(shared.get() == 2 && is_free(m), "SYNC-70");
}

// A writer waits for one reader; a second reader stands behind it. The writer leaves: the reader behind it must get in.
MODEL_COMPLETE(shared_mutex_model, cancelled_writer_lets_readers_in) {
    shared_mutex m;
    plain<int> shared{0};
    plain<int> wrote{0};
    plain<int> seen{0};
    auto reading = m.try_lock_shared();
    held_operation writer(m.lock(), wrote);
    read(m, shared, seen);
    thread other([&] { reading.unlock(); });
    const bool cancelled = writer.operation().try_cancel();
    other.join();
    check(wrote.get() == (cancelled ? 0 : 1), "cancelled or served");
    check(seen.get() == 1 && is_free(m), "SYNC-72: whoever stood behind the writer is served");
}

// A writer becomes a reader while another writer waits: no thread writes in between, and the waiter gets its turn.
MODEL_COMPLETE(shared_mutex_model, downgrade) {
    shared_mutex m;
    plain<int> shared{0};
    auto writing = m.try_lock();
    shared.set(10);
    thread other([&] { write_one(m, shared); });
    {
        auto reading = writing.downgrade();
        check(shared.get() == 10, "SYNC-73: no writer gets in between");
    }
    other.join();
    check(shared.get() == 11 && is_free(m), "SYNC-73");
}

}  // namespace
