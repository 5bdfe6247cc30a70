// The handle is tested in running_limit_test.cpp, threads in limit_region_model.cpp; here what reports see of the region.
#include <roost/task/detail/job/limit_region.hpp>

#include <roost/observe/dump.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/running_limit.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

#include <string>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;

task<> waits(event& e, running_limit& mine) {
    mine = co_await this_limit();
    co_await e.wait();
}
task<> limited(event& e, event& after, running_limit& mine) {
    co_await fail_after(10s, waits(e, mine));
    co_await after.wait();
}

TEST(limit_region, JOB_125_a_handle_that_is_kept_keeps_nothing_in_the_tree) {
    rig::stage s;
    event e;
    event after;
    running_limit kept;
    static_cast<void>(s.play(limited(e, after, kept)));
    EXPECT_TRUE(kept.extend_by(5s));
    EXPECT_NE(dump(s.root).find("deadline in 15 s"), std::string::npos) << dump(s.root);
    e.set();
    s.run();
    EXPECT_EQ(dump(s.root).find("region '"), std::string::npos) << dump(s.root);
    after.set();
    s.run();
    EXPECT_FALSE(kept.extend_by(5s));
}

}  // namespace
