// A read counts every increment that happened before it, once.
#include <roost/base/detail/thread_counter.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using namespace roost::seam;
using roost::testing::check;

MODEL(thread_counter_model, own_lines) {
    roost::detail::basic_thread_counter<2, 1> all;
    thread other([&] { all.add(2); });
    all.add(1);
    const std::uint64_t seen = all.read();
    check(seen == 1 || seen == 3, "OBS-140: its own increment is counted, the other one maybe");
    other.join();
    check(all.read() == 3, "OBS-140: nothing is lost");
}

MODEL(thread_counter_model, threads_that_share) {
    roost::detail::basic_thread_counter<1, 1> all;
    thread one([&] { all.add(1); });
    thread two([&] { all.add(1); });
    one.join();
    check(all.read() >= 1, "OBS-140: what happened before is counted");
    two.join();
    check(all.read() == 2, "OBS-140: nothing is lost");
}

}  // namespace
