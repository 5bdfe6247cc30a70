// Told from other threads while the service that hears begins and ends (SVC-75).

#include <roost/service/detail/hearer.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::seam::plain;
using roost::seam::thread;
using roost::service::detail::hearer;
using roost::testing::check;

class ears {
public:
    plain<bool> open{false};
    void hear() { check(open.get(), "SVC-75: a receiver that has left is not called"); }
};
constexpr auto hears = [](ears& who) { who.hear(); };

MODEL(hearer_model, come_vs_tell) {
    hearer<ears> all;
    ears mine;
    thread teller([&] { all.tell(hears); });
    mine.open.set(true);
    all.come(mine);
    teller.join();
    all.leave();
}

MODEL(hearer_model, SVC_75_leave_vs_tell) {
    hearer<ears> all;
    ears mine;
    mine.open.set(true);
    all.come(mine);
    thread teller([&] { all.tell(hears); });
    all.leave();
    mine.open.set(false);
    teller.join();
}

MODEL(hearer_model, leave_vs_two) {
    hearer<ears> all;
    ears mine;
    mine.open.set(true);
    all.come(mine);
    thread one([&] { all.tell(hears); });
    thread two([&] { all.tell(hears); });
    all.leave();
    mine.open.set(false);
    one.join();
    two.join();
}

}  // namespace
