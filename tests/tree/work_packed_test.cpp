// The packed transitions are the pure ones, over every kind of word.

#include <roost/tree/detail/work_packed.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost::detail;

TEST(work_packed, TREE_17_a_climb_on_packed_words_is_the_transitions) {
    for (const std::uint32_t units : {0U, 1U, 2U, unit_limit - 1}) {
        for (const std::uint32_t refs : {0U, 1U, 2U, 9U}) {
            for (unsigned flags = 0; flags < 16; ++flags) {
                const work_state s{units, refs, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0};
                for (const bool is_root : {true, false}) {
                    if (!s.is_valid() || (is_root && !s.announced)) {
                        continue;
                    }
                    if (refs > 0) {
                        const work_step pure = finish_drain(s, is_root);
                        EXPECT_EQ(after_drain(s.pack(), is_root), pure.next->pack());
                        EXPECT_EQ(action_of_drain(s.pack(), is_root), pure.action);
                    }
                    if (units > 0) {
                        const work_step pure = leave(s, is_root);
                        const bool simple = leaves_simply(s.pack(), is_root);
                        EXPECT_EQ(simple, !pure.action.drained && !(is_root && units == 1));
                        if (simple) {
                            EXPECT_EQ(after_simple_leave(s.pack()), pure.next->pack());
                            EXPECT_EQ(action_of_simple_leave(s.pack()), pure.action);
                        }
                    }
                }
            }
        }
    }
}

}  // namespace
