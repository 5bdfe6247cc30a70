// The pure functions of the level word, over every combination of bits.

#include <roost/tree/detail/level_state.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace roost::detail;
using roost::level;

constexpr level levels[] = {level::stop, level::cancel, level::abort};

std::vector<level_word> all_words() {
    std::vector<level_word> words;
    for (level_word w = 0; w <= raised_mask; w += 2) {
        for (const level_word extra : {level_word(0), heeding_bit, shield_bit, heeding_bit | shield_bit}) {
            words.push_back(w | extra);
        }
    }
    return words;
}

TEST(level_state, TREE_1_whether_cancel_has_effect_is_one_comparison) {
    for (const level_word w : all_words()) {
        for (const level_word other : {level_word(0), own_bit(level::cancel), spread_bit(level::abort), gone_bit}) {
            EXPECT_EQ(is_cancelled(w | other), effective_level(w | other) >= level::cancel) << (w | other);
        }
    }
}

TEST(level_state, TREE_1_a_level_only_rises) {
    for (const level_word w : all_words()) {
        for (const level l : levels) {
            EXPECT_GE(requested_level(w | raised_bit(l)), requested_level(w));
            EXPECT_GE(effective_level(w | raised_bit(l)), effective_level(w));
            EXPECT_GE(requested_level(w | raised_bit(l)), l);
        }
        EXPECT_LE(effective_level(w), requested_level(w));
    }
}

TEST(level_state, TREE_12_ignoring_holds_up_cancel_only) {
    for (level_word w = 0; w <= raised_mask; w += 2) {
        const level with = effective_level(w);
        if (requested_level(w) == level::cancel) {
            EXPECT_EQ(with, is_raised(w, level::stop) ? level::stop : level::running);
        } else {
            EXPECT_EQ(with, requested_level(w));
        }
        EXPECT_FALSE(passes(w, level::cancel));
        EXPECT_TRUE(passes(w, level::stop));
        EXPECT_TRUE(passes(w, level::abort));
        EXPECT_TRUE(passes(w | heeding_bit, level::cancel));
        EXPECT_EQ(effective_level(w | heeding_bit), requested_level(w));
    }
}

TEST(level_state, TREE_4_what_a_child_is_born_with) {
    for (const level_word parent : all_words()) {
        const level_word plain_child = heeding_bit | inherited_bits(parent, heeding_bit);
        EXPECT_EQ(effective_level(plain_child), effective_level(parent)) << parent;
        const level_word in_shield = inherited_bits(parent, shield_bit);
        EXPECT_FALSE(is_raised(in_shield, level::cancel));
        EXPECT_EQ(is_raised(in_shield, level::stop), is_raised(parent, level::stop));
        EXPECT_EQ(is_raised(in_shield, level::abort), is_raised(parent, level::abort));
    }
}

TEST(level_state, TREE_7_which_level_answers_why) {
    EXPECT_EQ(answering_level(0, level::stop), level::running);
    EXPECT_EQ(answering_level(raised_bit(level::cancel), level::stop), level::cancel);
    EXPECT_EQ(answering_level(raised_bit(level::cancel) | raised_bit(level::stop), level::stop), level::stop);
    EXPECT_EQ(answering_level(raised_bit(level::stop), level::cancel), level::running);
    EXPECT_EQ(answering_level(raised_bit(level::abort), level::running), level::abort);
    for (const level l : {level::cancel, level::abort}) {
        for (std::uint32_t kind = 1; kind < 8; ++kind) {
            EXPECT_EQ(kind_of(kind_bits(l, kind), l), kind);
            EXPECT_EQ(kind_bits(l, kind) & 0xffffU, 0U);
        }
    }
}

TEST(level_state, TREE_1_every_fact_of_a_level_has_a_bit_of_its_own) {
    level_word used = 0;
    for (const level l : levels) {
        for (const level_word bit : {raised_bit(l), own_bit(l), spread_bit(l)}) {
            EXPECT_EQ(used & bit, 0U);
            used |= bit;
        }
    }
    EXPECT_EQ(used & (heeding_bit | shield_bit | gone_bit), 0U);
}

TEST(level_state, TREE_1_kinds_are_kept_for_cancel_and_abort_only) {
    for (const level l : {level::running, level::stop}) {
        EXPECT_EQ(kind_bits(l, 5), 0U);
        EXPECT_EQ(kind_of(~level_word(0), l), 0U);
    }
    const level_word both = kind_bits(level::cancel, 5) | kind_bits(level::abort, 9);
    EXPECT_EQ(kind_of(both, level::cancel), 5U);
    EXPECT_EQ(kind_of(both, level::abort), 9U);
}

}  // namespace
