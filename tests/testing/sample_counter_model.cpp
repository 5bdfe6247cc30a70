#include "sample_counter.hpp"

#include <roost/testing/explore_gtest.hpp>

// Models of the sample slots and counter; the mutation gate runs them (tools/mutate.conf).

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;

namespace {

constexpr unsigned count = 3;

struct world {
    sample::slots<count> slots;
    std::array<plain<int>, count> contents;
    std::array<atomic<int>, count> owners;

    unsigned take() {
        const unsigned slot = slots.take();
        if (slot < count) {
            rt::check(owners[slot].fetch_add(1, mo::relaxed) == 0, "a slot has one owner");
            contents[slot].set(contents[slot].get() + 1);
        }
        return slot;
    }
    void give(unsigned slot) {
        if (slot < count) {
            owners[slot].fetch_sub(1, mo::relaxed);
            slots.give(slot);
        }
    }
};

}  // namespace

MODEL(sample_counter, overtaken_take) {
    world w;
    thread other([&] { w.take(); });
    const unsigned first = w.take();
    w.take();
    w.give(first);
    w.take();
    w.take();
    other.join();
}

MODEL(sample_counter, take_and_give_on_both_sides) {
    world w;
    const auto turn = [&] { w.give(w.take()); };
    thread other([&] {
        turn();
        w.take();
    });
    turn();
    w.take();
    other.join();
    w.take();
    rt::check(w.take() == count, "every slot is owned: none was lost or doubled");
}

MODEL(sample_counter, join_waits_for_every_user) {
    sample::counter counter(1);
    plain<int> first{0}, second{0};
    counter.enter();
    thread a([&] {
        first.set(1);
        counter.leave();
    });
    thread b([&] {
        second.set(1);
        counter.leave();
    });
    counter.join();
    rt::check(first.get() + second.get() == 2, "join() sees what the users wrote");
    a.join();
    b.join();
}

MODEL(sample_counter, user_brings_another) {
    sample::counter counter(2);
    thread a([&] {
        counter.enter();
        counter.leave();
        counter.leave();
    });
    thread b([&] { counter.leave(); });
    counter.join();
    a.join();
    b.join();
}
