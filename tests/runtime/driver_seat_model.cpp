#include <roost/runtime/detail/driver_seat.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;
using detail::driver_seat;

// What a thread leaves in the driver is seen by the next one.
MODEL_COMPLETE(driver_seat, IO_80_one_at_a_time) {
    driver_seat seat;
    plain<int> batch{0};
    const auto drive = [&] {
        if (seat.try_take()) {
            batch.set(batch.get() + 1);
            seat.give_back();
        }
    };
    thread other(drive);
    drive();
    other.join();
    rt::check(batch.get() >= 1, "one of them has driven");
}

// The thread that sees the driver sees all of it.
MODEL_COMPLETE(driver_seat, IO_84_made_while_driven) {
    driver_seat seat;
    std::error_code why;
    thread maker([&] {
        std::error_code here;
        rt::check(seat.make_reactor(here).reactor() != nullptr, "made");
    });
    if (ext::driver* in = seat.driver()) {
        in->wake();
    }
    const driver_seat::made mine = seat.make_reactor(why);
    rt::check(mine.reactor() != nullptr, "made");
    maker.join();
    rt::check(seat.make_reactor(why).reactor() == mine.reactor(), "IO-84: one driver");
}

}  // namespace
