// Histories of barrier, once, condition and waiter_queue, as in linearizable_model. A call with two moments, getting in line and
// being let through, is recorded as two calls.

#include <roost/sync/barrier.hpp>
#include <roost/sync/condition.hpp>
#include <roost/sync/once.hpp>
#include <roost/sync/waiter_queue.hpp>

#include "linearizable_histories.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace testing_support;
using roost::testing::check;

// --- barrier -----------------------------------------------------------------------------------------------------------------
struct meeting {
    int expected = 2;
    int remaining = 2;
    int phase = 0;
    int arrived_in[places] = {-1, -1, -1, -1, -1, -1};
    void arrive() {
        if (--remaining == 0) {
            remaining = expected;
            ++phase;
        }
    }
};

// What waits is `pass`: for phase 0, or with an arrival of its own, named by its place.
void barrier_histories() {
    enum {
        arrive,
        drop,
        look,
        wait_first,
        wait_first_and_cancel,
        arrive_and_wait,
        arrive_and_cancel,
        kinds,
        arrive_in,
        pass,
        left
    };
    constexpr int first_phase = -1;
    roost::barrier b(2, "b");
    std::atomic<bool> has_dropped{false};  // one of the two may
    waits<roost::barrier::operation> waiting;
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            if (what >= arrive_and_wait) {
                waiting.begin_in_line(
                    h, me, arrive_in, pass, what == arrive_and_cancel, [&] { return b.arrive_and_wait(); },
                    [] { return 1; });
            } else if (what >= wait_first) {
                waiting.begin(
                    h, me, pass, what == wait_first_and_cancel, [&] { return b.wait(0); }, [] { return 1; }, first_phase);
            } else if (what == arrive) {
                h.record(arrive, [&] { return b.arrive(); });
            } else if (what == look) {
                h.record(look, [&] { return b.try_wait(0); });
            } else if (!has_dropped.exchange(true)) {
                h.record(drop, [&] { b.arrive_and_drop(); });
            }
        },
        [&] {
            waiting.leave_all(left);
            check(b.waiters_now() == 0, "none is left");
        },
        meeting(),
        [](meeting& m, const recorded_call& c) {
            const int before = m.phase;
            switch (c.what) {
                case arrive: m.arrive(); return c.answer == before;
                case drop:
                    --m.expected;
                    m.arrive();
                    return true;
                case look: return c.answer == static_cast<int>(before != 0);
                case arrive_in:
                    m.arrived_in[c.argument] = before;
                    m.arrive();
                    return true;
                default: {
                    const int from = c.argument == first_phase ? 0 : m.arrived_in[c.argument];
                    return from >= 0 && (c.answer == cancelled || (before == from) == (c.what == left));
                }
            }
        });
}
TEST(linearizable_meetings_model, barrier) { both_searches(barrier_histories); }

// --- once --------------------------------------------------------------------------------------------------------------------
struct turns {
    bool running = false;
    bool done = false;
    bool take() { return !done && !std::exchange(running, true); }
};

void once_histories() {
    enum { try_it, look, succeed, fail, enter, enter_and_succeed, enter_and_fail, enter_and_cancel, kinds, left };
    constexpr int mine_now = 1;
    constexpr int done_already = 2;
    roost::once o("o");
    std::vector<roost::once::turn> held[threads];
    std::optional<roost::once::turn> kept[threads][calls_each];
    waits<roost::once::operation> waiting;
    const auto finish = [](history& h, roost::once::turn turn, bool succeeded) {
        h.record(succeeded ? succeed : fail, [&] {
            if (succeeded) {
                turn.done();
            }
            const roost::once::turn dropped = std::move(turn);
        });
    };
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            if (what >= enter) {
                auto& place = kept[me][waiting.begun(me)];
                waiting.begin(
                    h, me, enter, what == enter_and_cancel, [&] { return o.enter(); },
                    [&, what](roost::once::turn& got) {
                        if (!got.is_mine()) {
                            return done_already;
                        }
                        if (what == enter_and_succeed || what == enter_and_fail) {
                            finish(h, std::move(got), what == enter_and_succeed);  // before this is over, which is as good
                        } else {
                            place.emplace(std::move(got));
                        }
                        return mine_now;
                    });
            } else if (what == try_it) {
                h.record(try_it, [&] {
                    roost::once::turn got = o.try_enter();
                    if (got.is_mine()) {
                        held[me].push_back(std::move(got));
                        return true;
                    }
                    return false;
                });
            } else if (what == look) {
                h.record(look, [&] { return o.is_done(); });
            } else if (!held[me].empty()) {
                roost::once::turn last = std::move(held[me].back());
                held[me].pop_back();
                finish(h, std::move(last), what == succeed);
            }
        },
        [&] {
            waiting.leave_all(left);
            check(o.waiters_now() == 0, "none is left");
        },
        turns(),
        [](turns& t, const recorded_call& c) {
            switch (c.what) {
                case try_it: return c.answer != 0 ? t.take() : t.done || t.running;
                case look: return c.answer == static_cast<int>(t.done);
                case succeed: t.done = true; return std::exchange(t.running, false);
                case fail: return std::exchange(t.running, false);
                case left: return t.running;
                default: return c.answer == cancelled || (c.answer == mine_now ? t.take() : t.done);
            }
        });
}
TEST(linearizable_meetings_model, once) { both_searches(once_histories); }

// --- lines of waiters -----------------------------------------------------------------------------------------------------------
// Who waits, first in, first out, and who has been called.
struct line {
    std::vector<int> waiting;
    std::vector<std::pair<int, bool>> called;  // and whether alone
    int call(int n) {
        int found = 0;
        for (; found < n && !waiting.empty(); ++found) {
            called.emplace_back(waiting.front(), n == 1);
            waiting.erase(waiting.begin());
        }
        return found;
    }
    // Removes a waiter that was called; does nothing if it was not.
    std::optional<bool> go(int who) {
        const auto at = std::find_if(called.begin(), called.end(), [&](const auto& one) { return one.first == who; });
        if (at == called.end()) {
            return std::nullopt;
        }
        const bool alone = at->second;
        called.erase(at);
        return alone;
    }
    bool leave(int who) { return std::erase(waiting, who) == 1; }
};
constexpr int everybody = 1000;

// --- waiter_queue ------------------------------------------------------------------------------------------------------------
class is_false {
public:
    bool operator()() const noexcept { return false; }
};
void waiter_queue_histories() {
    enum { wake_one, wake_two, wake_all, wait, wait_and_cancel, kinds, get_in, pass, left };
    roost::waiter_queue q("q");
    waits<roost::waiter_queue::operation<is_false>> waiting;
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            switch (what) {
                case wake_one: h.record(wake_one, [&] { return q.wake_one(); }); return;
                case wake_two: h.record(wake_two, [&] { return q.wake_n(2); }); return;
                case wake_all: h.record(wake_all, [&] { q.wake_all(); }); return;
                default:
                    waiting.begin_in_line(
                        h, me, get_in, pass, what == wait_and_cancel, [&] { return q.wait_unless(is_false()); },
                        [](bool woken) { return woken ? 1 : 0; });
            }
        },
        [&] {
            waiting.leave_all(left);
            check(q.size_approx() == 0, "none is left");
        },
        line(),
        [](line& l, const recorded_call& c) {
            switch (c.what) {
                case wake_one: return c.answer == l.call(1);
                case wake_two: return c.answer == l.call(2);
                case wake_all: l.call(everybody); return true;
                case get_in: l.waiting.push_back(c.argument); return true;
                case left: return l.leave(c.argument);
                default: return c.answer == cancelled ? l.leave(c.argument) : c.answer == 1 && l.go(c.argument).has_value();
            }
        });
}
TEST(linearizable_meetings_model, waiter_queue) { both_searches(waiter_queue_histories); }

// --- condition ---------------------------------------------------------------------------------------------------------------
// Each waiter that passes has the mutex and unlocks it at once, so each one that was notified runs in the end. A
// notification of one that meets a waiter who is being cancelled goes to the next.
void condition_histories() {
    enum { notify_one, notify_all, wait, wait_and_cancel, kinds, get_in, pass, left };
    roost::mutex m("m");
    roost::condition c("c");
    roost::mutex::guard guards[threads][calls_each];
    waits<roost::condition::operation> waiting;
    std::atomic<int> inside{0};
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            if (what == notify_one) {
                h.record(notify_one, [&] {
                    const roost::mutex::guard held = m.lock_blocking();
                    c.notify_one();
                });
                return;
            }
            if (what == notify_all) {
                h.record(notify_all, [&] { c.notify_all(); });
                return;
            }
            roost::mutex::guard& mine = guards[me][waiting.begun(me)];
            mine = m.lock_blocking();
            waiting.begin_in_line(
                h, me, get_in, pass, what == wait_and_cancel, [&] { return c.wait(mine); },
                [&] {
                    check(mine.owns_lock() && inside.fetch_add(1) == 0, "whoever is let through has the mutex, alone");
                    inside.fetch_sub(1);
                    mine.unlock();
                    return 1;
                });
        },
        [&] {
            check(!m.is_locked() && m.waiters_now() == 0, "whoever was notified has run");
            waiting.leave_all(left);
            check(c.waiters_now() == 0, "none is left");
        },
        line(),
        [](line& l, const recorded_call& call) {
            switch (call.what) {
                case notify_one: l.call(1); return true;
                case notify_all: l.call(everybody); return true;
                case get_in: l.waiting.push_back(call.argument); return true;
                case left: return l.leave(call.argument);
                default: {
                    if (call.answer == cancelled && l.leave(call.argument)) {
                        return true;
                    }
                    const std::optional<bool> alone = l.go(call.argument);
                    if (call.answer == cancelled && alone.value_or(false)) {
                        l.call(1);
                    }
                    return alone.has_value();
                }
            }
        });
}
TEST(linearizable_meetings_model, condition) { both_searches(condition_histories); }

}  // namespace
