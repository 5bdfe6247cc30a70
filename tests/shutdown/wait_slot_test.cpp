#include <roost/shutdown/detail/wait_slot.hpp>

#include <gtest/gtest.h>

namespace {

using roost::detail::wait_slot;

static_assert(sizeof(wait_slot) <= 32);

struct awaiter {
    bool claims = true;
    int asked = 0;
    static bool try_cancel(void* p) noexcept {
        auto& self = *static_cast<awaiter*>(p);
        ++self.asked;
        return self.claims;
    }
};

TEST(wait_slot, TREE_54_cancel_claims_a_suspended_operation_once) {
    wait_slot slot;
    awaiter op;
    wait_slot::suspension here(slot, &op, &awaiter::try_cancel);
    EXPECT_FALSE(here.commit());
    EXPECT_TRUE(slot.cancel());
    EXPECT_FALSE(slot.cancel());
    EXPECT_EQ(op.asked, 1);
    EXPECT_TRUE(slot.is_cancelled());
}

TEST(wait_slot, TREE_54_cancel_before_the_commit_is_found_there) {
    wait_slot slot;
    awaiter op;
    wait_slot::suspension here(slot, &op, &awaiter::try_cancel);
    EXPECT_FALSE(slot.cancel());
    EXPECT_EQ(op.asked, 0);
    EXPECT_TRUE(here.commit());
    EXPECT_EQ(op.asked, 1);
}

TEST(wait_slot, TREE_54_a_wake_that_won_leads_to_disarm) {
    wait_slot slot;
    awaiter op;
    op.claims = false;
    {
        wait_slot::suspension here(slot, &op, &awaiter::try_cancel);
        EXPECT_FALSE(here.commit());
        EXPECT_FALSE(slot.cancel());
        slot.disarm();
    }
    {
        wait_slot::suspension here(slot, &op, &awaiter::try_cancel);
        EXPECT_FALSE(here.commit());  // sticky: asked again, lost again
        slot.disarm();
    }
    EXPECT_EQ(op.asked, 2);
}

TEST(wait_slot, TREE_54_who_cancels_again_asks_again) {
    wait_slot slot;
    awaiter op;
    op.claims = false;
    wait_slot::suspension here(slot, &op, &awaiter::try_cancel);
    EXPECT_FALSE(here.commit());
    EXPECT_FALSE(slot.cancel());
    EXPECT_FALSE(slot.cancel());
    EXPECT_EQ(op.asked, 2);
    slot.disarm();
}

TEST(wait_slot, TREE_54_used_again_and_again) {
    wait_slot slot;
    awaiter op;
    for (int i = 0; i < 1000; ++i) {
        wait_slot::suspension here(slot, &op, &awaiter::try_cancel);
        EXPECT_FALSE(here.commit());
        slot.disarm();
    }
    EXPECT_FALSE(slot.cancel());
    EXPECT_EQ(op.asked, 0);
}

TEST(wait_slot, TREE_55_resumed_on_the_suspending_stack) {
    awaiter op;
    auto slot = std::make_unique<wait_slot>();
    wait_slot::suspension here(*slot, &op, &awaiter::try_cancel);
    slot->disarm();
    slot.reset();
    EXPECT_FALSE(here.commit());
}

}  // namespace
