// The pure transitions of the work word: every reachable state of one node and of a chain is enumerated.

#include <roost/tree/detail/work_state.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <vector>

namespace {

using namespace roost::detail;

static_assert(work_state::unpack(work_state{5, 7, true, false, true, false}.pack()) ==
              work_state{5, 7, true, false, true, false});
static_assert(is_unshared(work_state{0, 1}.pack()) && is_unshared(work_state{0, 1, false, true}.pack()));
static_assert(!is_unshared(work_state{0, 2}.pack()) && !is_unshared(work_state{1, 1, true}.pack()));
static_assert(alone_with(2) == work_state{1, 2, true}.pack());
static_assert(!adopts(work_state{unit_limit, 1, true}.pack(), true) &&
              !adopts(work_state{1, reference_limit, true}.pack(), true));
static_assert(leave(*enter(work_state{0, 1, true}).next, true).next->pack() == work_state{0, 1, true}.pack());

TEST(work_state, TREE_17_the_fast_path_is_the_transition) {
    for (std::uint32_t units : {0U, 1U, 7U, unit_limit - 1}) {
        for (std::uint32_t refs : {0U, 1U, 9U}) {
            for (unsigned flags = 0; flags < 16; ++flags) {
                const work_state s{units,           refs, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, false,
                                   (flags & 8) != 0};
                const work_step pure = enter(s);
                EXPECT_EQ(pure.next->pack(), s.pack() + one_unit);
                EXPECT_EQ(pure.action.announce, (s.pack() & announced_bit) == 0);
                for (const bool is_root : {true, false}) {
                    if (units == 0 || (is_root && !s.announced)) {
                        continue;
                    }
                    const work_step pure_leave = leave(s, is_root);
                    if (leaves_quietly(s.pack(), is_root)) {
                        EXPECT_EQ(pure_leave.next->pack(), s.pack() - one_unit);
                        EXPECT_EQ(pure_leave.action, work_action{});
                    } else if (!is_root && units == 1 && leaves_upward(s.pack())) {
                        EXPECT_EQ(pure_leave.next->pack(), left_upward(s.pack()));
                        EXPECT_EQ(pure_leave.action, action_of_left_upward(s.pack()));
                    }
                }
                EXPECT_EQ(is_last_unit(s.pack()), units == 1);
                if (units == 1) {
                    const work_step closed = close_and_leave(s, false);
                    EXPECT_EQ(closed.next->pack(), closed_for_good(s.pack()));
                    EXPECT_EQ(closed.action, work_action{.drained = true});
                    EXPECT_EQ(closed.next->pack(), close_and_leave(s, true).next->pack());
                }
                for (const bool member : {true, false}) {
                    const work_step adopted = adopt(s, true, member);
                    EXPECT_EQ(adopts(s.pack(), member), adopted.next.has_value());
                    if (adopted.next) {
                        EXPECT_EQ(adopted.next->pack(), s.pack() + one_unit + one_reference);
                        EXPECT_EQ(adopted.action.announce, (s.pack() & announced_bit) == 0);
                    }
                }
                if (units > 1 && refs > 0) {
                    EXPECT_EQ(leave_with_child(s, false).next->pack(), s.pack() - one_unit - one_reference);
                    EXPECT_EQ(leave_with_child(s, false).action, work_action{});
                }
                if (units > 1) {
                    EXPECT_EQ(leave(s, false).next->pack(), s.pack() - one_unit);
                    EXPECT_EQ(leave(s, false).action, work_action{});
                }
                if (refs > 0) {
                    EXPECT_EQ(drop_reference(s).action.dead, dies_with_reference(s.pack()));
                }
                EXPECT_EQ(drop_reference(work_state{units, refs + 1, s.announced, s.watched, s.closing}).next->pack(),
                          work_state({units, refs + 1, s.announced, s.watched, s.closing}).pack() - one_reference);
            }
        }
    }
}

// One node as its users drive it: who holds what is part of the state, so that only legal steps are taken.
struct world {
    work_state word{0, 1, true};
    bool is_root = true;
    std::uint32_t held_units = 0;
    std::uint32_t held_refs = 1;
    std::uint32_t drains = 0;       // delivered and not finished
    std::uint32_t parent_units = 0; // units the parent holds for this node
    bool dead = false;
    bool drained_closed = false;

    [[nodiscard]] auto key() const {
        return std::tuple(word.pack(), held_units, held_refs, drains, parent_units, dead, drained_closed);
    }
    void apply(const work_step& s) {
        if (!s.next) {
            return;
        }
        word = *s.next;
        if (s.action.announce) {  // the creator announces before he returns
            ++parent_units;
            if (word.announced) {
                --parent_units;
            }
            word.announced = true;
        }
        drains += s.action.drained ? 1 : 0;
        if (s.action.drained && word.closed) {
            EXPECT_FALSE(drained_closed) << "TREE-18: a closed node drains once";
            drained_closed = true;
        }
        parent_units -= s.action.leave_parent ? 1 : 0;
        dead = dead || s.action.dead;
    }
    void check() const {
        EXPECT_TRUE(word.is_valid());
        EXPECT_EQ(word.units, held_units);
        EXPECT_EQ(word.references, held_refs + drains);
        EXPECT_EQ(dead, held_units == 0 && held_refs == 0 && drains == 0) << "TREE-30: dead exactly when nobody holds it";
        if (!is_root) {
            EXPECT_EQ(parent_units, word.announced ? 1U : 0U) << "I7";
            EXPECT_TRUE(held_units == 0 || word.announced) << "TREE-16: no unit without an announcement";
        }
    }
};

std::vector<world> successors(const world& w) {
    std::vector<world> out;
    const auto add = [&](auto change) {
        world next = w;
        change(next);
        next.check();
        out.push_back(next);
    };
    constexpr std::uint32_t most = 3;
    if (w.dead || w.drains > 2) {  // a view that never finishes its drains could pile them up without end
        return out;
    }
    if (w.held_units < most && w.held_refs < most) {
        if (w.held_units > 0) {
            add([](world& n) {
                ++n.held_units;
                n.apply(enter(n.word));
            });
        }
        if (w.held_refs > 0) {
            add([](world& n) {
                const work_step s = try_enter(n.word);
                EXPECT_EQ(s.action.refused, n.word.closing) << "TREE-20";
                n.held_units += s.next ? 1 : 0;
                n.apply(s);
            });
            add([](world& n) {
                const work_step s = try_enter_as_member(n.word);
                EXPECT_EQ(s.action.refused, n.word.closed) << "TREE-20";
                n.held_units += s.next ? 1 : 0;
                n.apply(s);
            });
            add([](world& n) {
                ++n.held_refs;
                ++n.word.references;
            });
        }
    }
    if (w.held_units > 0) {
        add([](world& n) {
            --n.held_units;
            n.apply(leave(n.word, n.is_root));
        });
        add([](world& n) {
            --n.held_units;
            n.apply(close_and_leave(n.word, n.is_root));
        });
    }
    if (w.held_refs > 0) {
        add([](world& n) { n.apply(close(n.word)); });
        add([](world& n) { n.apply(watch(n.word)); });
        add([](world& n) {
            --n.held_refs;
            n.apply(drop_reference(n.word));
        });
    }
    if (w.drains > 0) {
        add([](world& n) {
            --n.drains;
            n.apply(finish_drain(n.word, n.is_root));
        });
    }
    return out;
}

TEST(work_state, TREE_18_every_reachable_state_keeps_the_invariants) {
    for (const bool is_root : {true, false}) {
        world first;
        first.is_root = is_root;
        first.word.announced = is_root;
        std::set<decltype(first.key())> seen{first.key()};
        std::deque<world> open{first};
        while (!open.empty()) {
            const world w = open.front();
            open.pop_front();
            for (const world& next : successors(w)) {
                if (seen.insert(next.key()).second) {
                    open.push_back(next);
                }
            }
        }
        EXPECT_GT(seen.size(), 100U);
        RecordProperty(is_root ? "root_states" : "child_states", static_cast<int>(seen.size()));
    }
}

TEST(work_state, TREE_20_adopting_respects_closing) {
    const work_state open{1, 1, true, false, false, false};
    const work_state closing{1, 1, true, false, true, false};
    const work_state closed{0, 1, true, false, true, true};
    EXPECT_TRUE(adopt(open, true, false).next);
    EXPECT_FALSE(adopt(closing, true, false).next);
    EXPECT_TRUE(adopt(closing, true, true).next);
    EXPECT_FALSE(adopt(closed, true, true).next);
    EXPECT_FALSE(adopt(closed, false, true).next);
    EXPECT_EQ(adopt(open, true, false).next->units, 2U);
    EXPECT_EQ(adopt(open, false, false).next->units, 1U);
}

TEST(work_state, TREE_26_the_limits_are_refusals) {
    EXPECT_TRUE(is_unshared((work_state{0, 1}).pack()));
    EXPECT_TRUE(try_enter(work_state{14, 1, true}, 15).next);
    EXPECT_FALSE(try_enter(work_state{15, 1, true}, 15).next);
    EXPECT_FALSE(try_enter(work_state{16, 1, true}, 15).next);
    EXPECT_TRUE(try_enter_as_member(work_state{14, 1, true}, 15).next);
    EXPECT_FALSE(try_enter_as_member(work_state{15, 1, true}, 15).next);
    EXPECT_FALSE(adopt(work_state{15, 1, true}, true, false, 15).next);
    EXPECT_FALSE(adopt(work_state{1, reference_limit, true}, false, false).next);
}

TEST(work_state, TREE_33_a_dead_node_can_not_be_referenced_again) {
    EXPECT_FALSE(try_reference(work_state{0, 0, false}).next);
    EXPECT_TRUE(try_reference(work_state{1, 0, true}).next);
    EXPECT_TRUE(try_reference(work_state{0, 1, false}).next);
}

TEST(work_state, TREE_17_the_word_keeps_everything_and_knows_what_cannot_be) {
    for (unsigned flags = 0; flags < 32; ++flags) {
        const work_state s{5, 7, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0, (flags & 16) != 0};
        EXPECT_EQ(work_state::unpack(s.pack()), s);
        EXPECT_EQ(s.is_valid(), !s.closed) << "nothing is closed that has units";
    }
    EXPECT_FALSE((work_state{0, 1, true, false, false, true}).is_valid()) << "closed without closing";
    EXPECT_TRUE((work_state{0, 1, true, false, true, true}).is_valid());
    EXPECT_FALSE((work_state{unit_limit + 1, 1, true}).is_valid());
    EXPECT_FALSE((work_state{1, reference_limit + 1, true}).is_valid());
    EXPECT_EQ(alone_with(2), (work_state{1, 2, true}.pack()));
    EXPECT_TRUE(is_unshared(work_state{0, 1, false, true, false, false, true}.pack()))
        << "a mark of the view's holds nothing";
    EXPECT_TRUE(action_of_left_upward(work_state{1, 0, true, false, false, false, true}.pack()).dead);
    EXPECT_NE(work_action{.refused = true}, work_action{});
    EXPECT_NE(work_action{.dead = true}, work_action{});
    EXPECT_FALSE(leaves_quietly(work_state{0, 1, true}.pack(), true)) << "there is no unit to take";
    EXPECT_FALSE(leaves_quietly(work_state{1, 0, true}.pack(), true)) << "it holds the memory";
    EXPECT_FALSE(leaves_quietly(work_state{1, 1, true}.pack(), false));
    EXPECT_FALSE(leaves_quietly(work_state{1, 1, true, true}.pack(), true));
}

}  // namespace
