#include <roost/exec/detail/bell.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "fake_driver.hpp"

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;

MODEL(bell, RUN_50_ring_or_sleep) {
    detail::bell b;
    atomic<int> flag{0};
    plain<int> message{0};
    thread ringer([&] {
        message.set(1);
        flag.store(1, mo::relaxed);
        b.ring();
    });
    for (;;) {
        const std::uint32_t heard = b.listen();
        if (flag.load(mo::relaxed) == 1) {
            break;
        }
        b.sleep(heard);
    }
    ringer.join();
    rt::check(message.get() == 1, "joined");
}

// The ring carries what was changed before: the listener may read it without more.
MODEL(bell, RUN_50_ring_carries_the_change) {
    detail::bell b;
    plain<int> message{0};
    thread ringer([&] {
        message.set(1);
        b.ring();
    });
    const std::uint32_t before = 0;
    while (b.listen() == before) {
        b.sleep(before);
    }
    rt::check(message.get() == 1, "what was written before ring() is seen by who hears it");
    ringer.join();
}

// The listener sleeps in its driver instead: a ring ends that too, and sees which driver it is.
MODEL(bell, RUN_50_ring_or_drive) {
    detail::bell b;
    test_support::fake_driver in;
    atomic<int> flag{0};
    plain<int> message{0};
    thread ringer([&] {
        message.set(1);
        flag.store(1, mo::relaxed);
        b.ring();
    });
    for (;;) {
        const std::uint32_t heard = b.listen();
        if (flag.load(mo::relaxed) == 1) {
            break;
        }
        b.drive(heard, in);
    }
    ringer.join();
    rt::check(message.get() == 1, "joined");
}

// An event lets it leave the driver while another thread rings.
MODEL(bell, RUN_50_event_and_ring) {
    detail::bell b;
    test_support::fake_driver in;
    atomic<int> flag{0};
    thread kernel([&] { in.happen(); });
    thread ringer([&] {
        flag.store(1, mo::relaxed);
        b.ring();
    });
    for (;;) {
        const std::uint32_t heard = b.listen();
        if (flag.load(mo::relaxed) == 1) {
            break;
        }
        b.drive(heard, in);
        static_cast<void>(in.poll());
    }
    kernel.join();
    ringer.join();
}

}  // namespace
