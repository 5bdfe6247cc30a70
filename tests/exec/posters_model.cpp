// A caller that hands something over and then touches the receiver, against the receiver's end.

#include <roost/exec/detail/posters.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <memory>

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;

// Stands for an executor: `pushed` carries what was handed over, `woken` is touched afterwards.
struct receiver {
    detail::posters inside;
    atomic<std::uint32_t> pushed{0};
    plain<int> woken{0};
};

MODEL(posters, BASE_41_end_waits) {
    auto to = std::make_unique<receiver>();
    thread caller([at = to.get()] {
        const detail::posting now(at->inside);
        at->pushed.store(1, mo::release);
        at->woken.set(1);
    });
    while (to->pushed.load(mo::acquire) == 0) {
        wait_briefly(to->pushed, 0);
    }
    to->inside.wait_until_none();
    rt::check(to->woken.get() == 1, "BASE-41: the caller is out");
    to.reset();
    caller.join();
}

// Two at once: each is counted.
MODEL(posters, BASE_41_two_callers) {
    auto to = std::make_unique<receiver>();
    const auto call = [at = to.get()] {
        const detail::posting now(at->inside);
        at->pushed.fetch_add(1, mo::acq_rel);
        wake_on(&at->pushed, 1);
    };
    thread one(call);
    thread two(call);
    for (std::uint32_t seen = to->pushed.load(mo::acquire); seen != 2; seen = to->pushed.load(mo::acquire)) {
        wait_on(to->pushed, seen);
    }
    to->inside.wait_until_none();
    to.reset();
    one.join();
    two.join();
}

}  // namespace
