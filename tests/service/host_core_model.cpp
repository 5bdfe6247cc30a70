// What a request to end a service hands to the conductor, on the code that ships.

#include <roost/service/detail/host_core.hpp>
#include <roost/testing/explore_gtest.hpp>
#include <roost/testing/manual_executor.hpp>

namespace {

using roost::seam::plain;
using roost::seam::thread;
using roost::service::phase;
using roost::service::detail::contains;
using roost::service::detail::host_core;
using roost::service::detail::wish;
using roost::testing::check;

class rig {
public:
    roost::testing::manual_executor executor;
    host_core core{roost::service::options().sink(nullptr), roost::service::schedule_result::make({}).value(), executor,
                   std::source_location::current()};
};

// SVC-28: the taker of a wish sees what was done before it was made.
MODEL(host_core_model, main_ends) {
    rig r;
    thread main([&] { r.core.main_ended(7); });
    if (contains(r.core.take_wishes(), wish::main_ended)) {
        check(r.core.main_code() == 7, "SVC-28: the code comes with the wish");
    }
    main.join();
}

// SVC-28: two wish at once, while a third thread takes: each wish is taken exactly once.
MODEL(host_core_model, two_wishes) {
    rig r;
    thread other([&] { r.core.wish_for(wish::shut_down); });
    thread third([&] { r.core.wish_for(wish::cancel); });
    const std::uint32_t early = r.core.take_wishes();
    other.join();
    third.join();
    const std::uint32_t late = r.core.take_wishes();
    check((early ^ late) == (early | late), "SVC-28: none is taken twice");
    check(contains(early | late, wish::shut_down) && contains(early | late, wish::cancel), "SVC-28: none is lost");
}

// SVC-102: two failures at once: the first one stays, from the moment it can be seen.
MODEL(host_core_model, first_failure) {
    rig r;
    thread other([&] { r.core.set_failure(3); });
    r.core.set_failure(4);
    const int seen = r.core.failure();
    other.join();
    check(seen == 3 || seen == 4, "SVC-102: a failure is there");
    check(r.core.failure() == seen, "SVC-102: the first failure stays");
}

// SVC-20: a thread that sees a phase sees what was done before it began.
MODEL(host_core_model, phase_begins) {
    rig r;
    plain<int> done{0};
    thread conductor([&] {
        done.set(1);
        r.core.set_phase(phase::drain);
    });
    if (r.core.phase() == phase::drain) {
        check(done.get() == 1, "SVC-20: what was done before the phase began is there");
    }
    conductor.join();
}

}  // namespace
