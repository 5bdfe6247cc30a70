#include <roost/exec/detail/bell.hpp>
#include <roost/testing/explore_gtest.hpp>

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

}  // namespace
