// The table in which guards say who they are.

#include <roost/shutdown/detail/guard_slots.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::site;
using roost::detail::guard_slot;
using roost::detail::guard_table;
using roost::testing::check;

const int a_node = 0;
const int b_node = 0;

// SHUT-74: a copy is of one guard: owner, place and time belong together, however often the slot is taken meanwhile.
MODEL(guard_slots_model, copy) {
    guard_slot slot;
    const site here = site::here();
    const site there = site::here();
    slot.take(&a_node, here, 1, 1);
    roost::seam::thread owner([&slot, there] {
        slot.drop();
        if (slot.is_free()) {
            slot.take(&b_node, there, 2, 2);
        }
    });
    const guard_slot::copy c = slot.read();
    if (c.owner == &a_node) {
        check(c.since == 1 && c.where == here, "SHUT-74: a copy is of one guard");
    } else if (c.owner == &b_node) {
        check(c.since == 2 && c.where == there, "SHUT-74: a copy is of one guard");
    } else {
        check(c.owner == nullptr, "SHUT-74: a copy is of one guard, or says that it is free");
    }
    owner.join();
}

// SHUT-78: a thread notices a slot while it is given back and taken again: a time that was written down stays.
MODEL(guard_slots_model, notice) {
    guard_slot slot;
    slot.take(&a_node, site(), 0, 3);
    roost::seam::thread noticer([&slot] { slot.notice(7); });
    slot.drop();
    slot.take(&b_node, site(), 5, 4);
    noticer.join();
    check(slot.since() == 5, "SHUT-78: what was written down is not overwritten");
    slot.drop();
    slot.take(&a_node, site(), 0, 5);
    slot.notice(9);
    slot.notice(10);
    check(slot.since() == -9, "SHUT-78: from when it was first noticed");
}

// SHUT-74: dropped on another thread, taken again by the table's own.
MODEL(guard_slots_model, reuse) {
    guard_slot slot;
    slot.take(&a_node, site(), 1, 6);
    roost::seam::plain<int> used_by_dropper{0};
    roost::seam::thread dropper([&slot, &used_by_dropper] {
        check(slot.since() == 1, "SHUT-74: a guard reads its own record");
        used_by_dropper.set(1);
        slot.drop();
    });
    if (slot.is_free()) {
        check(used_by_dropper.get() == 1, "SHUT-74: the dropper is done with the slot");
        slot.take(&b_node, site(), 2, 7);
    }
    dropper.join();
}

// SHUT-74: the table grows while it is read: for the first time, and again.
void grow_while_read(std::size_t taken) {
    guard_table table;
    for (std::size_t i = 0; i < taken; ++i) {
        table.free_slot()->take(&a_node, site(), 1, 8);
    }
    roost::seam::thread reader([&table, taken] {
        std::size_t seen = 0;
        table.for_each([&seen](const guard_slot& s) { seen += s.read().owner != nullptr ? 1U : 0U; });
        check(seen >= taken && seen <= taken + 1, "SHUT-74: live guards are seen");
    });
    table.free_slot()->take(&b_node, site(), 2, 9);
    reader.join();
    check(table.capacity() > taken, "SHUT-74: it has grown");
}

MODEL(guard_slots_model, growth) { grow_while_read(roost::detail::first_slots); }
MODEL(guard_slots_model, second_growth) { grow_while_read(2 * roost::detail::first_slots); }

// SHUT-102: no memory for more: a request returns no slot, what was taken stays, and what is given back is found.
TEST(guard_slots_model, SHUT_102_no_memory_to_grow) {
    EXPECT_EXPLORED({.failing_allocations = 3}, [] {
        guard_table table;
        guard_slot* taken[2 * roost::detail::first_slots] = {};
        std::size_t count = 0;
        for (guard_slot*& mine : taken) {
            mine = table.free_slot();
            if (mine != nullptr) {
                mine->take(&a_node, site(), 1, 8);
                ++count;
            }
        }
        std::size_t seen = 0;
        table.for_each([&seen](const guard_slot& s) { seen += s.read().owner == &a_node ? 1U : 0U; });
        check(seen == count, "SHUT-102: every slot was given to one guard");
        check(count >= roost::detail::first_slots && count <= table.capacity(), "SHUT-60: the first need no memory");
        taken[0]->drop();
        check(table.free_slot() != nullptr, "SHUT-60: a slot that was given back is used again");
    });
}

}  // namespace
