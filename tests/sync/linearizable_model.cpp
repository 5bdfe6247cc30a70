// Three threads, two calls each, cancel among them, drawn by the search; every history must be one of a small sequential
// specification. What a call is drawn from is part of the search: bounded search first, then a random walk. Sequentially
// consistent mode only: with weak memory a call may rightly miss what a thread it never heard of has done before.

#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/semaphore.hpp>

#include "linearizable_histories.hpp"

#include <atomic>
#include <cstdint>

namespace {

using namespace testing_support;
using roost::testing::check;

// --- event -------------------------------------------------------------------------------------------------------------------
void event_histories() {
    enum { set, reset, look, wait, wait_and_cancel, kinds, left };
    roost::event e("e");
    waits<roost::event::operation> waiting;
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            switch (what) {
                case set: h.record(set, [&] { e.set(); }); return;
                case reset: h.record(reset, [&] { return e.reset(); }); return;
                case look: h.record(look, [&] { return e.is_set(); }); return;
                default: waiting.begin(h, me, wait, what == wait_and_cancel, [&] { return e.wait(); }, [] { return 1; });
            }
        },
        [&] {
            waiting.leave_all(left);
            check(e.waiters_now() == 0, "none is left");
        },
        false,
        [](bool& is_set, const recorded_call& c) {
            const bool before = is_set;
            switch (c.what) {
                case set: is_set = true; return true;
                case reset: is_set = false; return c.answer == static_cast<int>(before);
                case look: return c.answer == static_cast<int>(before);
                case left: return !before;
                default: return c.answer == cancelled || before;
            }
        });
}
TEST(linearizable_model, event) { both_searches(event_histories); }

// --- auto_reset_event ----------------------------------------------------------------------------------------------------------
void auto_reset_histories() {
    enum { set, try_wait, wait, wait_and_cancel, kinds, left };
    roost::auto_reset_event e("e");
    waits<roost::auto_reset_event::operation> waiting;
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            switch (what) {
                case set: h.record(set, [&] { e.set(); }); return;
                case try_wait: h.record(try_wait, [&] { return e.try_wait(); }); return;
                default: waiting.begin(h, me, wait, what == wait_and_cancel, [&] { return e.wait(); }, [] { return 1; });
            }
        },
        [&] { waiting.leave_all(left); }, false,
        [](bool& is_set, const recorded_call& c) {
            const bool before = is_set;
            switch (c.what) {
                case set: is_set = true; return true;
                case left: return !before;
                case try_wait: is_set = false; return c.answer == static_cast<int>(before);
                default: is_set = c.answer == cancelled && before; return c.answer == cancelled || before;
            }
        });
}
TEST(linearizable_model, auto_reset_event) { both_searches(auto_reset_histories); }

// --- semaphore and mutex --------------------------------------------------------------------------------------------------------
// A try may fail although there is something to take, while a waiter is queued: newcomers do not overtake.
template <class Try, class Start, class Give, class Available>
void permit_histories(int permits, Try try_take, Start start, Give give, Available available_now) {
    enum { try_it, release, acquire, acquire_and_cancel, kinds, left };
    int held[threads] = {};
    std::atomic<int> taken{0};
    using operation = decltype(start());
    waits<operation> waiting;
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            if (what >= acquire) {
                waiting.begin(h, me, acquire, what == acquire_and_cancel, start, [&](auto& permit) {
                    permit.release();
                    ++taken;
                    return 1;
                });
            } else if (what == try_it) {
                const int got = h.record(try_it, try_take);
                held[me] += got;
                taken += got;
            } else if (held[me] > 0) {
                --held[me];
                --taken;
                h.record(release, give);
            }
        },
        [&] {
            waiting.leave_all(left);
            check(available_now() + taken.load() == permits, "permits are conserved");
            while (taken.load() > 0) {
                --taken;
                give();
            }
        },
        permits,
        [](int& available, const recorded_call& c) {
            switch (c.what) {
                case try_it: available -= c.answer; return c.answer == 0 || available >= 0;
                case release: ++available; return true;
                case left: return available == 0;
                default: available -= c.answer == cancelled ? 0 : 1; return available >= 0;
            }
        });
}
void semaphore_histories() {
    roost::semaphore s(1, "s");
    permit_histories(
        1, [&] { return s.try_acquire().release() == 1; }, [&] { return s.acquire(); }, [&] { s.release(); },
        [&] { return static_cast<int>(s.available()); });
}
void mutex_histories() {
    roost::mutex m("m");
    permit_histories(
        1, [&] { return m.try_lock().release() != nullptr; }, [&] { return m.lock(); }, [&] { m.unlock(); },
        [&] { return m.is_locked() ? 0 : 1; });
}
TEST(linearizable_model, semaphore) { both_searches(semaphore_histories); }
TEST(linearizable_model, mutex) { both_searches(mutex_histories); }

// The checker itself: a history that cannot be, and one that can.
TEST(linearizable_model, checker_tells_right_from_wrong) {
    const auto apply = [](int& now, const recorded_call& c) {
        if (c.what == 0) {
            now = c.argument;
            return true;
        }
        return c.answer == now;
    };
    history wrong(3);
    wrong.end(wrong.begin(0, 1), 0);
    wrong.end(wrong.begin(1), 0);  // reads the old value after the write has returned
    EXPECT_FALSE(is_linearizable(wrong, 0, apply));
    history right(3);
    const std::size_t write = right.begin(0, 1);
    right.end(right.begin(1), 0);  // at the same time: either is right
    right.end(right.begin(1), 1);
    right.end(write, 0);
    EXPECT_TRUE(is_linearizable(right, 0, apply));
}

}  // namespace
