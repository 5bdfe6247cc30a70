// Every reachable state of the permit word, by search; no threads needed.

#include <roost/sync/detail/permit_state.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <tuple>

namespace {

using roost::detail::barge;
using roost::detail::give;
using roost::detail::grant;
using roost::detail::invariant;
using roost::detail::permit_state;
using roost::detail::take;

static_assert(permit_state::unpack(permit_state{5, true, false}.pack()) == permit_state{5, true, false});
static_assert(permit_state::unpack(permit_state{permit_state::max, true, true}.pack()).available == permit_state::max);
static_assert(!take(permit_state{3, true, false}, 1), "a newcomer never passes a queue");
static_assert(!take(permit_state{3, true, true}, 1), "not even one that is open to spinning threads");
static_assert(barge(permit_state{3, true, true}, 1)->available == 2);
static_assert(!barge(permit_state{3, true, false}, 1), "nobody passes a queue whose head is handed to");
static_assert(grant(permit_state{3, true, false}, 2, true) == permit_state{1, false, false});
static_assert(!grant(permit_state{1, true, false}, 2, false));
static_assert(roost::detail::removable(permit_state{3, false, false}, 5) == 3);

// The word together with what the list and the holders know: held permits, and the weights of up to two in line.
struct world {
    permit_state word;
    std::uint32_t held = 0;
    std::uint32_t first = 0;   // weight of the head, 0: none
    std::uint32_t second = 0;
    bool first_is_thread = false;

    [[nodiscard]] auto key() const { return std::tuple(word.pack(), held, first, second, first_is_thread); }
};

constexpr std::uint32_t total = 2;

// What grant_locked does, on values.
world settle(world w) {
    while (w.first != 0) {
        const bool comes = w.first_is_thread && w.word.available >= w.first;
        w.word.open = comes;
        if (comes) {
            return w;
        }
        const auto next = grant(w.word, w.first, w.second == 0);
        if (!next) {
            return w;
        }
        w.word = *next;
        w.held += w.first;
        w.first = w.second;
        w.second = 0;
        w.first_is_thread = false;
    }
    w.word.waited = w.word.open = false;
    return w;
}

template <class Visit>
void successors(const world& w, Visit visit) {
    for (std::uint32_t n = 1; n <= total; ++n) {
        for (const bool spinning : {false, true}) {
            if (const auto next = spinning ? barge(w.word, n) : take(w.word, n)) {
                world taken = w;
                taken.word = *next;
                taken.held += n;
                visit(taken);
            }
        }
        for (const bool is_thread : {false, true}) {
            world queued = w;
            queued.word = roost::detail::enqueue(w.word, n);
            if (take(w.word, n)) {
                queued.held += n;
            } else if (w.first == 0) {
                queued.first = n;
                queued.first_is_thread = is_thread;
            } else if (w.second == 0) {
                queued.second = n;
            } else {
                continue;
            }
            visit(queued);
        }
        if (w.held >= n) {
            world given = w;
            given.word = give(w.word, n);
            given.held -= n;
            visit(w.word.waited ? settle(given) : given);
        }
    }
    if (w.first != 0) {  // the head leaves: cancelled, or a called thread that came and took its permits
        world left = w;
        left.first = w.second;
        left.second = 0;
        left.first_is_thread = false;
        visit(settle(left));
        if (const auto came = w.first_is_thread ? grant(w.word, w.first, w.second == 0) : std::nullopt) {
            left.word = *came;
            left.held += w.first;
            visit(settle(left));
        }
    }
}

TEST(permit_state, SYNC_30_every_reachable_state_is_sound) {
    std::set<decltype(world{}.key())> seen;
    std::deque<world> todo;
    const auto add = [&](const world& w) {
        if (seen.insert(w.key()).second) {
            todo.push_back(w);
        }
    };
    add(world{permit_state{total, false, false}});
    while (!todo.empty()) {
        const world w = todo.front();
        todo.pop_front();
        ASSERT_TRUE(invariant(w.word, total));
        ASSERT_EQ(w.word.available + w.held, total) << "permits are conserved";
        ASSERT_EQ(w.word.waited, w.first != 0);
        // No waiter is stranded: a head that could be served is a thread that has been called.
        ASSERT_TRUE(w.first == 0 || w.word.available < w.first || (w.first_is_thread && w.word.open));
        successors(w, add);
    }
    EXPECT_GT(seen.size(), 20U);
}

TEST(permit_state, SYNC_30_the_word_keeps_everything_and_refuses_what_cannot_be) {
    for (const std::uint32_t n : {0U, 1U, permit_state::max}) {
        for (const bool waited : {false, true}) {
            for (const bool open : {false, true}) {
                const permit_state s{n, waited, open};
                EXPECT_EQ(permit_state::unpack(s.pack()), s);
                EXPECT_EQ(invariant(s, permit_state::max), !open || waited) << "open to threads only while somebody waits";
            }
        }
    }
    EXPECT_FALSE(invariant(permit_state{3, false, false}, 2)) << "more than there are";
    EXPECT_EQ(roost::detail::removable(permit_state{3, false, false}, 5), 3U);
    EXPECT_EQ(roost::detail::removable(permit_state{3, false, false}, 2), 2U);
}

}  // namespace
