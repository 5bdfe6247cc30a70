// Slots: which stripe they belong to.

#include <gtest/gtest.h>

#include "support.hpp"

namespace {

using namespace pool_testing;
using roost::pool_options;

TEST(slot, POOL_23_a_resource_returns_to_the_stripe_it_came_from) {
    ledger l;
    pool_options o(4, "striped");
    o.stripes = 2;
    auto p = make_pool(l, o);
    auto a = p.try_acquire_or_create();
    const int home = a.handle().stripe();
    const int id = a->id;
    a.handle().give_back();
    for (int i = 0; i < 5; ++i) {
        auto again = p.try_acquire();
        EXPECT_EQ(again->id, id) << "a lone thread sees the same resource again and again";
        EXPECT_EQ(again.handle().stripe(), home);
    }
}

TEST(slot, POOL_23_slots_know_their_number_and_their_stripe) {
    ledger l;
    pool_options o(7, "striped");
    o.stripes = 3;
    auto p = make_pool(l, o);
    unsigned total = 0;
    for (unsigned i = 0; i < p.stripes(); ++i) {
        auto& stripe = core_of(p).stripes().at(i);
        for (unsigned n = 0; n < stripe.slot_count; ++n, ++total) {
            EXPECT_EQ(stripe.slots[n]->number, n);
            EXPECT_EQ(stripe.slots[n]->home, &stripe);
        }
    }
    EXPECT_EQ(total, 7U);
}

}  // namespace
