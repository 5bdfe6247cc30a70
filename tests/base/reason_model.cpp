// The counted record of a reason: the last holder frees it, and all others have finished reading (BASE-10).

#include <roost/base/reason.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::testing::check;

// The payload's destructor writes what the readers read, so a holder that is freed too early is a data race.
struct canary {
    roost::seam::plain<int>* alive;
    explicit canary(roost::seam::plain<int>* a) : alive(a) {}
    canary(const canary& other) = default;
    ~canary() { alive->set(alive->get() - 1); }
};

MODEL(reason_model, last_holder) {
    roost::seam::plain<int> alive{0};
    {
        roost::reason mine(roost::reason_kind::requested, "x", std::any(std::in_place_type<canary>, &alive));
        alive.set(1);
        roost::seam::thread other([copy = mine, &alive]() mutable {
            check(alive.get() == 1, "BASE-10: the payload lives while a copy does");
            copy = roost::reason();
        });
        mine = roost::reason();
        other.join();
    }
    check(alive.get() == 0, "BASE-10: the record is freed exactly once");
}

// Two copies are made at once: both count.
MODEL(reason_model, two_copiers) {
    roost::seam::plain<int> alive{0};
    {
        const roost::reason shared(roost::reason_kind::requested, "x", std::any(std::in_place_type<canary>, &alive));
        alive.set(1);
        roost::reason theirs;
        roost::seam::thread other([&] { theirs = shared; });
        roost::reason mine = shared;
        other.join();
        theirs = roost::reason();
        mine = roost::reason();
        check(alive.get() == 1, "BASE-10: the payload lives while a copy does");
    }
    check(alive.get() == 0, "BASE-10: the record is freed exactly once");
}

}  // namespace
