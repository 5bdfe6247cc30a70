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
    slot.take(&a_node, here, 1);
    roost::thread owner([&slot, there] {
        slot.drop();
        if (slot.is_free()) {
            slot.take(&b_node, there, 2);
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

// SHUT-74: dropped on another thread, taken again by the table's own.
MODEL(guard_slots_model, reuse) {
    guard_slot slot;
    slot.take(&a_node, site(), 1);
    roost::plain<int> used_by_dropper{0};
    roost::thread dropper([&slot, &used_by_dropper] {
        check(slot.since() == 1, "SHUT-74: a guard reads its own record");
        used_by_dropper.set(1);
        slot.drop();
    });
    if (slot.is_free()) {
        check(used_by_dropper.get() == 1, "SHUT-74: the dropper is done with the slot");
        slot.take(&b_node, site(), 2);
    }
    dropper.join();
}

// SHUT-74: the table grows while it is read.
MODEL(guard_slots_model, growth) {
    guard_table table;
    for (std::size_t i = 0; i < roost::detail::first_slots; ++i) {
        table.free_slot()->take(&a_node, site(), 1);
    }
    roost::thread reader([&table] {
        std::size_t seen = 0;
        table.for_each([&seen](const guard_slot::copy& c) { seen += c.owner != nullptr ? 1U : 0U; });
        check(seen >= roost::detail::first_slots && seen <= roost::detail::first_slots + 1, "SHUT-74: live guards are seen");
    });
    table.free_slot()->take(&b_node, site(), 2);
    reader.join();
}

}  // namespace
