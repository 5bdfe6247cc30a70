#include <roost/runtime/detail/work_deque.hpp>
#include <roost/testing/explore_gtest.hpp>

// The deque with rings of two slots, so that growth and wrapping happen within a few steps.

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::ext;
using namespace roost::seam;

struct tiny {
    static constexpr std::size_t first_capacity = 2;
};
using deque = detail::work_deque<tiny>;

// An item whose content is handed over with it.
struct item : work {
    item() : work(+[](work&) noexcept {}) {}
    plain<int> content{0};
    atomic<int> taken{0};

    void take() {
        rt::check(content.get() == 1, "the taker of an item sees what its poster wrote");
        rt::check(taken.fetch_add(1, mo::relaxed) == 0, "an item is taken once");
    }
};

void fill(item& i) { i.content.set(1); }

void take_if_any(work* w) {
    if (w != nullptr) {
        static_cast<item*>(w)->take();
    }
}

void steal(deque& d) {
    bool lost = false;
    take_if_any(d.steal(lost));
}

template <std::size_t Count>
int taken_in_all(const item (&items)[Count]) {
    int sum = 0;
    for (const item& i : items) {
        sum += i.taken.load(mo::relaxed);
    }
    return sum;
}

void drain(deque& d) {
    while (work* w = d.pop()) {
        static_cast<item*>(w)->take();
    }
}

MODEL_COMPLETE(work_deque, RUN_10_item_visible) {
    deque d;
    item i;
    thread thief([&] { steal(d); });
    fill(i);
    rt::check(d.push(i) == 1, "one item now");
    thief.join();
    drain(d);
    rt::check(i.taken.load(mo::relaxed) == 1, "nothing is lost");
}

MODEL_COMPLETE(work_deque, RUN_10_last_item) {
    deque d;
    item items[2];
    fill(items[0]);
    fill(items[1]);
    rt::check(d.push(items[0]) != 0 && d.push(items[1]) != 0, "room for two");
    thread thief([&] {
        steal(d);
        steal(d);
    });
    take_if_any(d.pop());
    take_if_any(d.pop());
    thief.join();
    drain(d);
    rt::check(taken_in_all(items) == 2, "nothing is lost");
}

MODEL_COMPLETE(work_deque, RUN_10_two_thieves) {
    deque d;
    item items[2];
    fill(items[0]);
    fill(items[1]);
    rt::check(d.push(items[0]) != 0 && d.push(items[1]) != 0, "room for two");
    thread first([&] { steal(d); });
    thread second([&] { steal(d); });
    take_if_any(d.pop());
    first.join();
    second.join();
    drain(d);
    rt::check(taken_in_all(items) == 2, "nothing is lost");
}

MODEL_COMPLETE(work_deque, RUN_11_growth) {
    deque d;
    item items[3];
    fill(items[0]);
    fill(items[1]);
    rt::check(d.push(items[0]) != 0 && d.push(items[1]) != 0, "room for two");
    thread thief([&] { steal(d); });
    fill(items[2]);
    rt::check(d.push(items[2]) != 0, "grown, or room after a theft");
    thief.join();
    drain(d);
    rt::check(taken_in_all(items) == 3, "nothing is lost");
}

// The slot of a stolen item is written again while the thief may still be reading it.
MODEL_COMPLETE(work_deque, RUN_11_slot_reuse) {
    deque d;
    item items[4];
    fill(items[0]);
    rt::check(d.push(items[0]) != 0, "room");
    thread thief([&] {
        steal(d);
        steal(d);
    });
    for (int n = 1; n < 4; ++n) {
        fill(items[n]);
        take_if_any(d.pop());
        rt::check(d.push(items[n]) != 0, "room");
    }
    thief.join();
    drain(d);
    rt::check(taken_in_all(items) == 4, "nothing is lost");
}

TEST(work_deque, RUN_11_no_memory_to_grow) {
    EXPECT_EXPLORED({.failing_allocations = 1}, [] {
        try {
            deque d;
            item items[3];
            int accepted = 0;
            for (item& i : items) {
                fill(i);
                accepted += d.push(i) != 0 ? 1 : 0;
            }
            drain(d);
            rt::check(taken_in_all(items) == accepted, "what was accepted is there, what was refused is not");
        } catch (const std::bad_alloc&) {
            return;  // the deque could not be made at all
        }
    });
}

}  // namespace
