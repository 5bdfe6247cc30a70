// Histories of a pool against a sequential one: places are idle, free or out, and a closed pool gives nothing. Cancel, discard
// and close are among the calls. Sequentially consistent mode, as in sync/linearizable_model.

#include <roost/pool/pool.hpp>

#include "linearizable_histories.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace testing_support;
using roost::testing::check;

struct thing {
    int number = 0;
};
using loan = roost::acquired<thing>;

enum {
    try_idle,
    try_any,
    give_back,
    discard,
    clear,
    acquire,
    acquire_and_return,
    acquire_and_cancel,
    close_it,
    kinds,
    drained
};
constexpr int nothing = 0;
constexpr int got = 1;
constexpr int closed = 2;

int answer_of(const loan& l) {
    switch (l.status()) {
        case roost::wait_status::ok: return got;
        case roost::wait_status::empty: return nothing;
        case roost::wait_status::closed: return closed;
        default:
            check(false, "an acquire ends with a resource, with nothing, or because the pool is closed");
            return nothing;
    }
}

struct shelf {
    int idle;
    int free;
    int out;
    bool is_closed;
    bool take(bool may_create) {
        if (is_closed || idle + (may_create ? free : 0) == 0) {
            return false;
        }
        (idle > 0 ? idle : free) -= 1;
        ++out;
        return true;
    }
};

// A try may say no although a place would be had one after the other: while another acquire is in line, or on the way there, and
// while a resource is being destroyed, which keeps its place until it is gone. A close may find another one at that.
bool is_between(const std::vector<recorded_call>& all, const recorded_call& c) {
    for (const recorded_call& other : all) {
        const bool counts = other.what == acquire || other.what == discard || other.what == clear ||
                            (other.what == drained && c.what == drained && other.called != c.called);
        if (counts && other.called < c.returned && other.returned > c.called) {
            return true;
        }
    }
    return false;
}

bool apply_to(shelf& p, const recorded_call& c, const history& h) {
    switch (c.what) {
        case try_idle:
        case try_any:
            if (c.answer == closed) {
                return p.is_closed;
            }
            if (c.answer == got) {
                return p.take(c.what == try_any);
            }
            return !p.is_closed && (!shelf(p).take(c.what == try_any) || is_between(h.calls(), c));
        case give_back: (p.is_closed ? p.free : p.idle) += 1; return p.out-- > 0;
        case discard: ++p.free; return p.out-- > 0;
        case clear: {
            const int were_idle = std::exchange(p.idle, 0);
            p.free += were_idle;
            return c.answer == were_idle || (p.is_closed && c.answer == 0);  // closing empties it, too
        }
        case close_it: p.is_closed = true; return true;
        case drained: return c.answer != 0 ? p.is_closed && p.out == 0 : p.out > 0 || is_between(h.calls(), c);
        default: return c.answer == cancelled || (c.answer == closed ? p.is_closed : p.take(true));
    }
}

class run {
public:
    explicit run(std::uint32_t capacity, bool may_close)
        : capacity_(static_cast<int>(capacity)),
          kinds_(may_close ? kinds : close_it),
          pool_(options(capacity), [] { return thing(); }) {}

    void search() {
        std::atomic<history*> recorded{nullptr};
        try_histories(
            kinds_,
            [&](history& h, int me, std::uint32_t what) {
                recorded = &h;
                call(h, me, what);
            },
            [&] { finish(); }, shelf{0, capacity_, 0, false},
            [&](shelf& p, const recorded_call& c) { return apply_to(p, c, *recorded.load()); });
    }

private:
    static roost::pool_options options(std::uint32_t capacity) {
        roost::pool_options o(capacity, "histories");
        o.stripes = 1;
        return o;
    }
    void call(history& h, int me, std::uint32_t what) {
        switch (what) {
            case try_idle:
            case try_any: {
                const std::size_t place = h.begin(static_cast<int>(what));
                loan l = what == try_idle ? pool_.try_acquire() : pool_.try_acquire_or_create();
                h.end(place, answer_of(l));
                if (l) {
                    held_[me].push_back(std::move(l));
                }
                return;
            }
            case give_back:
            case discard:
                if (!held_[me].empty()) {
                    auto& last = held_[me].back().handle();
                    h.record(static_cast<int>(what), [&] { what == discard ? last.discard() : last.give_back(); });
                    held_[me].pop_back();
                }
                return;
            case clear: h.record(clear, [&] { return pool_.clear_idle(); }); return;
            case close_it: {
                // Two moments of one call: nothing more is given, and everything has come back.
                const std::size_t place = h.begin(close_it);
                const std::size_t end = h.begin(drained);
                const bool all_back = pool_.close_blocking(roost::now());
                h.end(place, 0);
                h.end(end, all_back);
                return;
            }
            default: wait(h, me, what);
        }
    }
    void wait(history& h, int me, std::uint32_t what) {
        std::optional<loan>& mine = kept_[me][waiting_.begun(me)];
        waiting_.begin(
            h, me, acquire, what == acquire_and_cancel, [&] { return pool_.acquire("history"); },
            [&h, &mine, what](loan& l) {
                const int how = answer_of(l);
                if (how == got && what == acquire_and_return) {
                    returns(h, std::move(l));
                } else if (how == got) {
                    mine.emplace(std::move(l));
                }
                return how;
            });
    }
    // Before the acquire is recorded as over, which is as good: both are at one moment after the call.
    static void returns(history& h, loan l) {
        h.record(give_back, [&] { l.handle().give_back(); });
    }
    void finish() {
        waiting_.cancel_all();
        int out = 0;
        for (int me = 0; me < threads; ++me) {
            out += static_cast<int>(held_[me].size());
            for (auto& one : kept_[me]) {
                out += one ? 1 : 0;
            }
        }
        const roost::pool_stats s = pool_.stats();
        check(static_cast<int>(s.out) == out && s.busy == 0 && s.waiting == 0, "what is out is in somebody's hands");
        check(static_cast<int>(s.free + s.idle + s.out) == capacity_, "places are conserved");
    }

    int capacity_;
    std::uint32_t kinds_;
    roost::pool<thing> pool_;
    std::vector<loan> held_[threads];
    std::optional<loan> kept_[threads][calls_each];
    waits<roost::pool<thing>::operation> waiting_;
};

TEST(linearizable_pool_model, one_place) {
    both_searches([] { run(1, false).search(); });
}
TEST(linearizable_pool_model, one_place_and_close) {
    both_searches([] { run(1, true).search(); });
}
TEST(linearizable_pool_model, two_places) {
    both_searches([] { run(2, true).search(); });
}

}  // namespace
