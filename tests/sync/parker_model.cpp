// Tokens are never lost, with both back ends (SYNC-50 .. SYNC-52).

#include <roost/sync/detail/parker.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;

template <class Parker>
void publish() {
    Parker p;
    plain<int> data{0};
    thread waker([&] {
        data.set(42);
        p.unpark();
    });
    p.park();
    check(data.get() == 42, "SYNC-50: the waker's writes are visible");
    waker.join();
}
MODEL_COMPLETE(parker_model, publish) { publish<roost::detail::futex_parker>(); }
MODEL_COMPLETE(parker_model, portable_publish) { publish<roost::detail::portable_parker>(); }

template <class Parker>
void deadline() {
    Parker p;
    plain<int> data{0};
    thread waker([&] {
        data.set(42);
        p.unpark();
    });
    if (p.park(roost::now() + roost::duration(1))) {
        check(data.get() == 42, "SYNC-51");
        check(!p.park(roost::time_point::min()), "SYNC-51: the token is there once");
    } else {
        p.park();
        check(data.get() == 42, "SYNC-51: a token that came late is kept");
    }
    waker.join();
}
MODEL_COMPLETE(parker_model, deadline) { deadline<roost::detail::futex_parker>(); }
MODEL_COMPLETE(parker_model, portable_deadline) { deadline<roost::detail::portable_parker>(); }

template <class Parker>
void destroyed_by_the_owner() {
    auto* p = new (roost::seam::allocate(sizeof(Parker))) Parker;
    thread waker([p] { p->unpark(); });
    p->park();
    p->~Parker();
    roost::seam::deallocate(p, sizeof(Parker));
    waker.join();
}
MODEL_COMPLETE(parker_model, destroyed_by_the_owner) { destroyed_by_the_owner<roost::detail::futex_parker>(); }
MODEL_COMPLETE(parker_model, portable_destroyed_by_the_owner) { destroyed_by_the_owner<roost::detail::portable_parker>(); }

MODEL_COMPLETE(parker_model, two_rounds) {
    roost::detail::futex_parker a;
    roost::detail::futex_parker b;
    plain<int> turns{0};
    thread other([&] {
        a.park();
        turns.set(turns.get() + 1);
        b.unpark();
    });
    a.unpark();
    b.park();
    check(turns.get() == 1, "SYNC-50");
    other.join();
}

}  // namespace
