// Every state a stripe can reach, by every sequence of transitions, at small sizes.

#include <roost/pool/detail/stripe_state.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using roost::detail::is_valid;
using roost::detail::stripe_effect;
using roost::detail::stripe_state;
using roost::detail::stripe_step;
namespace stripe = roost::detail::stripe;

static_assert(is_valid(stripe_state::make(10, 10), 10));
static_assert(is_valid(stripe_state::make(4, 2), 4));
static_assert(stripe_state::make(4, 2).free() == 2 && stripe_state::make(4, 2).capacity() == 2);
static_assert(stripe::take(stripe_state::make(3, 3), false, false).is_refused());
static_assert(stripe::reserve(stripe_state::make(3, 0), false, false).is_refused());

// A state of the world: the word, which slots are out, which are busy, and which of these are being destroyed.
struct world {
    stripe_state s;
    unsigned out = 0;
    unsigned busy = 0;
    unsigned dying = 0;
    friend bool operator==(const world&, const world&) = default;
};
struct hash {
    std::size_t operator()(const world& w) const {
        return std::hash<std::uint64_t>()(w.s.bits * 0x9e3779b97f4a7c15U + w.out * 1027U + w.busy * 64U + w.dying);
    }
};

class search {
public:
    search(unsigned slots, bool with_counting) : slots_(slots), counting_(with_counting) {}

    std::size_t run() {
        visit({stripe_state::make(slots_, slots_)});
        while (!open_.empty()) {
            const world w = open_.front();
            open_.pop();
            for (const bool past : {false, true}) {
                for (const bool entered : {false, true}) {
                    if (counting_ && !entered && !w.s.is_counted()) {
                        continue;  // the caller enters the node first
                    }
                    if (!counting_ && entered) {
                        continue;
                    }
                    acquire(w, stripe::take(w.s, entered, past), past);
                    acquire(w, stripe::reserve(w.s, entered, past), past);
                }
            }
            for (unsigned i = 0; i < slots_; ++i) {
                if ((w.out >> i & 1U) != 0) {
                    give_back(w, stripe::put(w.s, i));
                    give_back(w, stripe::discard(w.s, i));
                }
                if ((w.dying >> i & 1U) != 0) {
                    settle(w, stripe::emptied(w.s, i));
                    settle(w, stripe::bank(w.s, i));  // POOL-40: evicted, and not stale after all
                    recreate(w, i);
                } else if ((w.busy >> i & 1U) != 0) {
                    settle(w, stripe::made(w.s, i));
                    settle(w, stripe::bank(w.s, i));
                    settle(w, stripe::emptied(w.s, i));
                }
            }
            for (unsigned position = 0; position < slots_; ++position) {
                evict(w, position);
            }
            evict_all(w);
            for (unsigned capacity = 0; capacity <= slots_; ++capacity) {
                same(w, stripe::set_capacity(w.s, capacity));
            }
            same(w, stripe::wait(w.s, true));
            same(w, stripe::wait(w.s, false));
            same(w, stripe::stop(w.s));
            same(w, stripe::close(w.s));
        }
        return seen_.size();
    }

private:
    static constexpr unsigned bit(unsigned i) { return 1U << i; }

    void visit(const world& w) {
        ASSERT_TRUE(is_valid(w.s, slots_)) << std::hex << w.s.bits;
        ASSERT_EQ(w.s.out(), static_cast<unsigned>(__builtin_popcount(w.out)));
        ASSERT_EQ(w.s.busy(), static_cast<unsigned>(__builtin_popcount(w.busy)));
        // I3: what is out or busy is not in the word
        for (unsigned i = 0; i < w.s.idle(); ++i) {
            ASSERT_EQ((w.out | w.busy) & bit(w.s.at(i)), 0U);
        }
        if (seen_.emplace(w, true).second) {
            compare_plain(w);
            open_.push(w);
        }
    }
    void check_unit(const world& before, const stripe_step& step) {
        if (!counting_) {
            ASSERT_FALSE(step.leave);
            return;
        }
        ASSERT_EQ(step.leave,
                  before.s.is_counted() && step.next.out() + step.next.busy() == 0 && before.s.out() + before.s.busy() != 0);
        ASSERT_TRUE(step.next.out() == 0 || step.next.is_counted()) << "POOL-40: out without a unit of work";
    }
    // The fast paths say the same as the pure transitions, wherever they apply.
    void compare_plain(const world& w) {
        const stripe_state::word unit = counting_ ? stripe_state::counted_bit : 0;
        if (stripe::take_is_plain(w.s, unit)) {
            unsigned slot = 99;
            const stripe_state next = stripe::take_plainly(w.s, slot);
            const stripe_step step = stripe::take(w.s, false, false);
            ASSERT_EQ(step.effect, stripe_effect::deliver);
            ASSERT_EQ(next, step.next);
            ASSERT_EQ(slot, step.slot);
        } else {
            ASSERT_TRUE(stripe::take(w.s, false, false).is_refused() || counting_) << "only counting may need a second look";
        }
        for (unsigned i = 0; i < slots_; ++i) {
            if ((w.out & bit(i)) != 0 && (w.s.bits & stripe::put_is_special) == 0) {
                const stripe_step step = stripe::put(w.s, i);
                ASSERT_EQ(step.effect, stripe_effect::none);
                ASSERT_FALSE(step.leave);
                ASSERT_EQ(stripe::put_plainly(w.s, i), step.next);
            }
        }
    }
    void acquire(const world& w, const stripe_step& step, bool past) {
        if (step.is_refused()) {
            return;
        }
        check_unit(w, step);
        ASSERT_FALSE(w.s.is_stopped()) << "POOL-41";
        ASSERT_TRUE(past || !w.s.is_waited()) << "POOL-22: overtook the queue";
        world next = w;
        next.s = step.next;
        ASSERT_EQ((w.out | w.busy) & bit(step.slot), 0U) << "POOL-16: given out twice";
        if (step.effect == stripe_effect::deliver) {
            ASSERT_EQ(step.slot, w.s.newest()) << "POOL-25: last in, first out";
            ASSERT_EQ(step.next.live(), w.s.live());
            next.out |= bit(step.slot);
        } else {
            ASSERT_EQ(step.effect, stripe_effect::create);
            ASSERT_LE(step.next.live(), step.next.capacity()) << "POOL-15: more than the capacity";
            next.busy |= bit(step.slot);
        }
        visit(next);
    }
    void give_back(const world& w, const stripe_step& step) {
        check_unit(w, step);
        world next = w;
        next.s = step.next;
        next.out &= ~bit(step.slot);
        if (step.effect == stripe_effect::destroy) {
            next.busy |= bit(step.slot);
            next.dying |= bit(step.slot);
        } else {
            ASSERT_EQ(step.next.newest(), step.slot);
            ASSERT_FALSE(w.s.is_closed());
        }
        visit(next);
    }
    void settle(const world& w, const stripe_step& step) {
        check_unit(w, step);
        world next = w;
        next.s = step.next;
        if (step.effect == stripe_effect::destroy) {
            ASSERT_TRUE(w.s.is_closed() || w.s.over() != 0);
            ASSERT_EQ(step.next, w.s);
            next.dying |= bit(step.slot);
        } else {
            next.busy &= ~bit(step.slot);
            next.dying &= ~bit(step.slot);
            if (step.effect == stripe_effect::deliver) {
                next.out |= bit(step.slot);
            }
        }
        visit(next);
    }
    void evict(const world& w, unsigned position) {
        const stripe_step step = stripe::evict(w.s, position);
        ASSERT_EQ(step.is_refused(), position >= w.s.idle());
        if (!step.is_refused()) {
            ASSERT_EQ(step.slot, w.s.at(position));
            for (unsigned i = 0; i < step.next.idle(); ++i) {
                ASSERT_EQ(step.next.at(i), w.s.at(i < position ? i : i + 1)) << "the order of the others stays";
            }
            world next = w;
            next.s = step.next;
            next.busy |= bit(step.slot);
            next.dying |= bit(step.slot);
            visit(next);
        }
    }
    void evict_all(const world& w) {
        const stripe_step step = stripe::evict_all(w.s);
        ASSERT_EQ(step.is_refused(), w.s.idle() == 0);
        if (!step.is_refused()) {
            ASSERT_EQ(step.next.idle(), 0U);
            world next = w;
            next.s = step.next;
            for (unsigned i = 0; i < w.s.idle(); ++i) {
                next.busy |= bit(w.s.at(i));
                next.dying |= bit(w.s.at(i));
            }
            visit(next);
        }
    }
    void recreate(const world& w, unsigned slot) {
        const stripe_step step = stripe::recreate(w.s, slot, counting_);
        if (!step.is_refused()) {
            check_unit(w, step);
            ASSERT_LE(step.next.live(), step.next.capacity()) << "POOL-20: within the capacity";
            world next = w;
            next.s = step.next;
            next.dying &= ~bit(slot);
            visit(next);
        }
    }
    void same(const world& w, const stripe_step& step) {
        ASSERT_EQ(step.next.slots(), w.s.slots());
        ASSERT_EQ(step.next.live(), w.s.live());
        ASSERT_FALSE(w.s.is_drained() && !step.next.is_drained()) << "I4";
        world next = w;
        next.s = step.next;
        visit(next);
    }

    unsigned slots_;
    bool counting_;
    std::unordered_map<world, bool, hash> seen_;
    std::queue<world> open_;
};

TEST(stripe_state, POOL_11_every_reachable_state_keeps_the_invariants) {
    for (unsigned slots = 1; slots <= 4; ++slots) {
        for (const bool counting : {false, true}) {
            const std::size_t states = search(slots, counting).run();
            std::printf("  %u slots%s: %zu states\n", slots, counting ? ", counted" : "", states);
            EXPECT_GT(states, slots * 8U);
            if (::testing::Test::HasFatalFailure()) {
                return;
            }
        }
    }
}

TEST(stripe_state, POOL_25_order_is_last_in_first_out_and_evicts_from_the_bottom) {
    stripe_state s = stripe_state::make(10, 10);
    for (unsigned i = 0; i < 10; ++i) {
        const stripe_step made = stripe::reserve(s, false, false);
        ASSERT_EQ(made.slot, i);
        s = stripe::made(made.next, made.slot).next;
    }
    for (const unsigned slot : {3U, 1U, 4U, 9U, 5U, 0U, 2U, 6U, 8U, 7U}) {
        s = stripe::put(s, slot).next;
    }
    const stripe_step evicted = stripe::evict(s);
    EXPECT_EQ(evicted.slot, 3U);
    s = evicted.next;
    for (const unsigned slot : {7U, 8U, 6U, 2U, 0U, 5U, 9U, 4U, 1U}) {
        const stripe_step taken = stripe::take(s, false, false);
        EXPECT_EQ(taken.slot, slot);
        s = taken.next;
        EXPECT_TRUE(is_valid(s, 10));
    }
}

// Accounting defects known from other pools, on the value alone.
TEST(stripe_state, RPB_1_and_2_uses_and_destructions_conserve_capacity) {
    stripe_state s = stripe_state::make(1, 1);
    for (int i = 0; i < 5; ++i) {
        const stripe_step got = s.idle() != 0 ? stripe::take(s, false, false) : stripe::reserve(s, false, false);
        ASSERT_FALSE(got.is_refused());
        s = got.effect == stripe_effect::create ? stripe::made(got.next, got.slot).next : got.next;
        EXPECT_TRUE(stripe::take(s, false, false).is_refused());
        EXPECT_TRUE(stripe::reserve(s, false, false).is_refused());
        s = stripe::put(s, got.slot).next;
    }
    const stripe_step taken = stripe::take(s, false, false);
    s = stripe::emptied(stripe::discard(taken.next, taken.slot).next, taken.slot).next;
    EXPECT_FALSE(stripe::reserve(s, false, false).is_refused()) << "destroying frees the capacity";
}

TEST(stripe_state, POOL_15_words_that_cannot_be_are_told) {
    const stripe_state good = stripe_state::make(4, 4);
    EXPECT_TRUE(is_valid(good, 4));
    EXPECT_FALSE(is_valid(good, 3)) << "a slot that is not there";
    EXPECT_FALSE(is_valid(good, 5)) << "a slot that is nowhere";
    EXPECT_FALSE(is_valid(stripe_state(good.bits | 1), 4)) << "a number where nothing is";
    stripe_state twice = good;
    twice.pop_spare();
    twice.push_idle(1);
    EXPECT_FALSE(is_valid(twice, 4)) << "a slot in two places";
    EXPECT_FALSE(is_valid(stripe_state(good.bits + 5 * stripe_state::one_retired), 4)) << "more retired than there are";
    EXPECT_FALSE(is_valid(stripe_state(good.bits | stripe_state::closed_bit), 4)) << "closed, not stopped";
    EXPECT_TRUE(is_valid(stripe_state(good.bits | stripe_state::closed_bit | stripe_state::stopped_bit), 4));
}

}  // namespace
