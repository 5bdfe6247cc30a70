// Every interleaving of take, put, cancel, destroy and failing creation.

#include "model_support.hpp"

#include <stdexcept>

namespace {

using namespace pool_modelling;

MODEL(pool_model, put_vs_take) {
    plain<int> uses{0};
    plain<int> mine{0};
    plain<int> theirs{0};
    pool<shared> p(small(1), [&] { return shared{&uses}; });
    thread other([&] { use(p, theirs); });
    use(p, mine);
    other.join();
    check(uses.get() == 2 && mine.get() == 1 && theirs.get() == 1, "POOL-16: one after the other, each served once");
    expect_all_back(p, "POOL-15");
}

// With a parent, by the other branches of the same operations: a return that gives back the unit of work, and a take that
// has to bring one.
MODEL(pool_model, put_vs_try_counted) {
    counted c(1);
    auto held = c.p.try_acquire_or_create();
    thread other([&] {
        if (auto got = c.p.try_acquire()) {
            check(got->uses->get() == 1 && c.root->has_work(), "POOL-16, POOL-40: it sees what the last one wrote");
        }
    });
    held->uses->set(1);
    held.handle().give_back();
    other.join();
    expect_all_back(c.p, "counted");
    check(!c.root->has_work(), "POOL-40");
}

// With a parent the unit of work comes and goes, by the other branches of the same operations.
MODEL(pool_model, put_vs_take_counted) {
    plain<int> mine{0};
    plain<int> theirs{0};
    counted c(1);
    use(c.p, mine);
    thread other([&] { use(c.p, theirs); });
    use(c.p, mine);
    other.join();
    check(c.uses.get() == 3 && mine.get() == 2 && theirs.get() == 1,
          "everybody is served, and sees what the last one wrote");
    expect_all_back(c.p, "counted");
}

MODEL(pool_model, put_vs_take_vs_cancel) {
    plain<int> uses{0};
    plain<int> behind{0};
    pool<shared> p(small(1), [&] { return shared{&uses}; });
    auto held = p.try_acquire_or_create();
    client first(p);
    use(p, behind);
    thread releaser([&] { held.handle().give_back(); });
    const bool cancelled = first.cancel();
    releaser.join();
    check(first.served() != cancelled, "POOL-18: cancelled or served, never both, never neither");
    check(behind.get() == 1, "POOL-18: the one behind is always served");
    expect_all_back(p, "POOL-15: nothing is lost");
}

// The return that found a waiter and came too late for it: it returns the resource by the slow path, and whatever comes next
// takes it by the fast one.
MODEL(pool_model, late_put_vs_take) {
    plain<int> uses{0};
    pool<shared> p(small(1), [&] { return shared{&uses}; });
    auto held = p.try_acquire_or_create();
    client waits(p);
    thread releaser([&] {
        held->uses->set(held->uses->get() + 1);
        held.handle().give_back();
    });
    const bool cancelled = waits.cancel();
    if (auto got = p.try_acquire()) {
        check(got->uses->get() == 1, "POOL-16: whoever takes it sees what the last one wrote");
    }
    releaser.join();
    check(waits.served() != cancelled, "POOL-18");
    expect_all_back(p, "POOL-15");
}

// Two stripes with one place between them, the waiter on one and the resource on the other.
MODEL(pool_model, enqueue_vs_put_elsewhere) {
    plain<int> uses{0};
    plain<int> served{0};
    pool<shared> p(small(2, 2), [&] { return shared{&uses}; });
    auto a = p.try_acquire_or_create();
    auto b = p.try_acquire_or_create();
    thread waits([&] { use(p, served); });
    a.handle().give_back();
    waits.join();
    check(served.get() == 1, "POOL-23: whichever stripe it comes back to");
    b.handle().give_back();
    expect_all_back(p, "POOL-15");
}

MODEL(pool_model, destroy_vs_waiter) {
    plain<int> uses{0};
    plain<int> served{0};
    roost::seam::atomic<int> made{0};
    pool<shared> p(small(1), [&] {
        made.fetch_add(1, roost::seam::mo::relaxed);
        return shared{&uses};
    });
    auto held = p.try_acquire_or_create();
    thread waits([&] { use(p, served); });
    held.handle().discard();
    waits.join();
    check(served.get() == 1 && made.load(roost::seam::mo::relaxed) == 2, "POOL-20: the right to create reaches the waiter");
    expect_all_back(p, "POOL-15");
}

MODEL(pool_model, create_failure_vs_waiter) {
    plain<int> uses{0};
    plain<int> served{0};
    roost::seam::atomic<int> calls{0};
    pool<shared> p(small(1), [&] {
        if (calls.fetch_add(1, roost::seam::mo::relaxed) == 0) {
            throw std::runtime_error("refused");
        }
        return shared{&uses};
    });
    plain<int> mine{0};
    thread other([&] { use(p, served); });
    use(p, mine);
    other.join();
    check(served.get() + mine.get() == 1, "POOL-21: one gets the error, the other the resource");
    expect_all_back(p, "POOL-15: the right to create moved on");
}

}  // namespace
