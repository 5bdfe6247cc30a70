// Histories of latch and shared_mutex, as in linearizable_model.

#include <roost/sync/latch.hpp>
#include <roost/sync/shared_mutex.hpp>

#include "linearizable_histories.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace testing_support;
using roost::testing::check;

// --- latch -------------------------------------------------------------------------------------------------------------------
void latch_histories() {
    enum { count_down, look, wait, wait_and_cancel, kinds, left };
    constexpr int from = 3;
    roost::latch l(from, "l");
    std::atomic<int> to_count{from};  // counting below zero is misuse
    waits<roost::latch::operation> waiting;
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            if (what >= wait) {
                waiting.begin(h, me, wait, what == wait_and_cancel, [&] { return l.wait(); }, [] { return 1; });
            } else if (what == look) {
                h.record(look, [&] { return l.try_wait(); });
            } else if (to_count.fetch_sub(1) > 0) {
                h.record(count_down, [&] { l.count_down(); });
            }
        },
        [&] {
            waiting.leave_all(left);
            check(l.waiters_now() == 0, "none is left");
        },
        from,
        [](int& n, const recorded_call& c) {
            switch (c.what) {
                case count_down: return n-- > 0;
                case look: return c.answer == static_cast<int>(n == 0);
                case left: return n > 0;
                default: return c.answer == cancelled || n == 0;
            }
        });
}
TEST(linearizable_locks_model, latch) { both_searches(latch_histories); }

// --- shared_mutex ------------------------------------------------------------------------------------------------------------
// A try may fail on a free lock while a waiter is queued: newcomers do not overtake.
struct holders {
    int readers = 0;
    bool writer = false;
    bool has_writers = false;  // in line in the end
};
void shared_mutex_histories() {
    enum {
        try_read,
        try_write,
        read_out,
        write_out,
        read,
        write,
        read_and_cancel,
        write_and_cancel,
        kinds,
        read_left,
        write_left
    };
    roost::shared_mutex m("m");
    std::vector<roost::shared_mutex::shared_guard> reads[threads];
    std::vector<roost::shared_mutex::guard> writes[threads];
    std::optional<roost::shared_mutex::shared_guard> kept_reads[threads][calls_each];
    std::optional<roost::shared_mutex::guard> kept_writes[threads][calls_each];
    waits<roost::shared_mutex::shared_operation> reading;
    waits<roost::shared_mutex::operation> writing;
    const auto try_it = [](history& h, std::uint32_t what, auto guard_of, auto& mine) {
        h.record(static_cast<int>(what), [&] {
            auto got = guard_of();
            if (got) {
                mine.push_back(std::move(got));
                return true;
            }
            return false;
        });
    };
    const auto let_go = [](history& h, std::uint32_t what, auto& mine) {
        if (!mine.empty()) {
            h.record(static_cast<int>(what), [&] { mine.back().unlock(); });
            mine.pop_back();
        }
    };
    const auto wait = [](history& h, int me, std::uint32_t what, auto start, auto& waiting, auto& kept, bool cancels) {
        auto& place = kept[me][waiting.begun(me)];
        waiting.begin(h, me, static_cast<int>(what), cancels, start, [&place](auto& got) {
            place.emplace(std::move(got));
            return 1;
        });
    };
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            switch (what) {
                case try_read: try_it(h, what, [&] { return m.try_lock_shared(); }, reads[me]); return;
                case try_write: try_it(h, what, [&] { return m.try_lock(); }, writes[me]); return;
                case read_out: let_go(h, what, reads[me]); return;
                case write_out: let_go(h, what, writes[me]); return;
                case read:
                case read_and_cancel:
                    wait(h, me, read, [&] { return m.lock_shared(); }, reading, kept_reads, what != read);
                    return;
                default: wait(h, me, write, [&] { return m.lock(); }, writing, kept_writes, what != write);
            }
        },
        [&] {
            writing.leave_all(write_left);
            reading.leave_all(read_left);
        },
        holders(),
        [](holders& now, const recorded_call& c) {
            const bool took = c.answer == 1;
            switch (c.what) {
                case try_read:
                case read: now.readers += took ? 1 : 0; return !took || !now.writer;
                case try_write:
                case write: {
                    const bool is_free = now.readers == 0 && !now.writer;
                    now.writer = now.writer || took;
                    return !took || is_free;
                }
                case read_out: return now.readers-- > 0;
                case write_left: now.has_writers = true; return now.readers > 0 || now.writer;
                case read_left: return now.writer || (now.readers > 0 && now.has_writers);
                default: return std::exchange(now.writer, false);
            }
        });
}
TEST(linearizable_locks_model, shared_mutex) { both_searches(shared_mutex_histories); }

}  // namespace
