#include "sample_event.hpp"

#include <roost/testing/explore_gtest.hpp>

// Models of the sample event; the mutation gate runs them (tools/mutate.conf).

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;

namespace {

void set_and_wait(unsigned waiters) {
    sample::event event;
    plain<int> data{0};
    const auto wait = [&] {
        event.wait();
        rt::check(data.get() == 1, "what was written before set() is seen after wait()");
    };
    thread first(wait);
    thread second;
    if (waiters == 2) {
        second = thread(wait);
    }
    data.set(1);
    event.set();
    first.join();
    if (waiters == 2) {
        second.join();
    }
}

}  // namespace

MODEL(sample_event, one_waiter) { set_and_wait(1); }
MODEL(sample_event, two_waiters) { set_and_wait(2); }
