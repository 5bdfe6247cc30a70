// Striped counts between their threads and the closer.

#include <roost/shutdown/detail/stripes.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::detail::stripes;
using roost::testing::check;

bool add(stripes& s, std::int64_t n) { return s.add(roost::seam::thread_index(), n); }

// What the node's own word would hold.
struct own_word {
    roost::seam::atomic<std::int64_t> units{1};  // the stripes' own
    roost::seam::plain<int> folds{0};  // the fold comes before any thread sees that they are closed
    auto fold() {
        return [this](std::int64_t n) noexcept {
            units.fetch_add(n, roost::seam::mo::acq_rel);
            folds.set(folds.get() + 1);
        };
    }
    // Called by a thread that found the stripes closed.
    void add(std::int64_t n) {
        check(folds.get() != 0, "SHUT-75: everything is folded when somebody is told that the stripes are closed");
        units.fetch_add(n, roost::seam::mo::acq_rel);
    }
    std::int64_t now() const { return units.load(roost::seam::mo::acquire); }
};

// SHUT-75: a guard that is made while the stripes are closed is counted exactly once.
MODEL(stripes_model, close_and_add) {
    stripes s;
    own_word word;
    roost::seam::thread adder([&] {
        if (!add(s, 1)) {
            word.add(1);
        }
    });
    s.close(word.fold());
    adder.join();
    check(word.now() == 2, "SHUT-75: counted exactly once");
    check(!add(s, 1), "SHUT-75: closed for ever");
}

// SHUT-75, SHUT-72: a guard made before is dropped on another thread meanwhile; the closer sees its work when the count shows
// that nothing is left.
MODEL(stripes_model, close_sees_work) {
    stripes s;
    own_word word;
    roost::seam::plain<int> work{0};
    check(add(s, 1), "SHUT-75: open");
    roost::seam::thread dropper([&] {
        work.set(1);
        if (!add(s, -1)) {
            word.add(-1);
        }
    });
    s.close(word.fold());
    const std::int64_t left = word.now();
    check(left == 1 || left == 2, "SHUT-75: never less than the stripes' own unit");
    if (left == 1) {
        check(work.get() == 1, "SHUT-72: completion sees what the guarded work did");
    }
    dropper.join();
    check(word.now() == 1, "SHUT-75: nothing is left");
}

// SHUT-75: the second closer returns when everything is folded.
MODEL(stripes_model, late_and_close) {
    stripes s;
    own_word word;
    check(add(s, 1), "SHUT-75: open");
    roost::seam::thread other([&] {
        s.close(word.fold());
        check(word.now() == 2 && word.folds.get() != 0, "SHUT-75: folded");
        if (!add(s, -1)) {
            word.add(-1);
        }
    });
    s.close(word.fold());
    check(s.is_closed(), "SHUT-75: closed when close() returns");
    other.join();
    check(word.now() == 1, "SHUT-75: nothing is left");
}

// SHUT-75: two who come while the stripes are being closed count in one word.
MODEL(stripes_model, two_late) {
    stripes s;
    own_word word;
    roost::seam::plain<int> work{0};
    check(add(s, 1), "SHUT-75: open");
    const auto visit = [&](std::int64_t n) {
        if (!add(s, n)) {
            word.add(n);
        }
    };
    roost::seam::thread adder([&] { visit(1); });
    roost::seam::thread dropper([&] {
        work.set(1);
        visit(-1);
    });
    s.close(word.fold());
    adder.join();
    const std::int64_t left = word.now();
    check(left == 2 || left == 3, "SHUT-75: counted exactly once");
    if (left == 2) {
        check(work.get() == 1, "SHUT-72: completion sees what the guarded work did");
    }
    dropper.join();
    check(word.now() == 2, "SHUT-75: counted exactly once");
}

// SHUT-75: a thread that finds them closed finds all counts in the word.
MODEL(stripes_model, looking_and_close) {
    stripes s;
    own_word word;
    check(add(s, 1), "SHUT-75: open");
    roost::seam::thread other([&] {
        if (s.is_closed()) {
            check(word.folds.get() != 0, "SHUT-75: folded");
        }
    });
    s.close(word.fold());
    other.join();
}

// SHUT-5: a guard goes from thread to thread while a third thread counts: there is one all the time, and two for a moment.
MODEL(stripes_model, count_and_hand_over) {
    stripes s;
    check(add(s, 1), "SHUT-75: open");
    roost::seam::thread maker([&] {
        check(add(s, 1), "SHUT-75: open");
        roost::seam::thread dropper([&] { check(add(s, -1), "SHUT-75: open"); });
        dropper.join();
    });
    const auto seen = s.try_sum();
    check(seen && (*seen == 1 || *seen == 2), "SHUT-5: a number that there was");
    maker.join();
    check(s.try_sum() == 1, "SHUT-5: exact at rest");
}

// SHUT-5: a thread that counted in its cell, found out that another thread counts, and went to the shared word is there once.
MODEL(stripes_model, count_and_late) {
    stripes s;
    roost::seam::thread maker([&] {
        check(add(s, 1), "SHUT-75: open");
        check(add(s, 1), "SHUT-75: open");
        check(add(s, -1), "SHUT-75: open");
    });
    const auto seen = s.try_sum();
    check(seen && *seen >= 0 && *seen <= 2, "SHUT-5: a number that there was");
    maker.join();
    check(s.try_sum() == 1, "SHUT-5: exact at rest");
}

// SHUT-5: a guard is made in one cell and then another one dropped in the other: a count that has the second has the first.
MODEL(stripes_model, count_two_cells) {
    stripes s;
    check(add(s, 1), "SHUT-75: open");
    roost::seam::thread maker([&] { check(add(s, 1), "SHUT-75: open"); });
    roost::seam::thread counter([&] {
        const auto seen = s.try_sum();
        check(seen && (*seen == 1 || *seen == 2), "SHUT-5: a number that there was");
    });
    maker.join();
    check(add(s, -1), "SHUT-75: open");
    counter.join();
    check(s.try_sum() == 1, "SHUT-5: exact at rest");
}

// SHUT-75: closing waits for a thread that counts; a count of closed stripes says that they are closed.
MODEL(stripes_model, count_and_close) {
    stripes s;
    own_word word;
    check(add(s, 1), "SHUT-75: open");
    roost::seam::thread other([&] {
        const auto seen = s.try_sum();
        check(!seen || *seen == 1, "SHUT-5: a number that there was");
    });
    s.close(word.fold());
    check(word.now() == 2, "SHUT-75: folded");
    other.join();
}

}  // namespace
