#include <roost/observe/stalls.hpp>

#include <roost/base/detail/measuring.hpp>
#include <roost/observe/waits.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>

#include "../task/rig.hpp"

#include <coroutine>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;
using rig::stage;

task<> wait_for(event& e) { co_await e.wait(); }
task<> wait_shielded(event& e) { co_await shield(1h, wait_for(e)); }

class foreign {
public:
    explicit foreign(std::coroutine_handle<>& out) : out_(&out) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const noexcept { *out_ = h; }
    void await_resume() const noexcept {}

private:
    std::coroutine_handle<>* out_;
};
task<> wait_foreign(std::coroutine_handle<>& h) { co_await foreign(h); }

task<> launch_shielded(scope& s, event& e) {
    s.launch("inner", wait_shielded(e));
    co_return;
}
task<> wait_for_children(event& e) { co_await with_scope(launch_shielded, std::ref(e)); }

TEST(stalls, OBS_241_a_cancelled_job_in_a_shield_is_reported_after_the_limit) {
    stage s;
    event go("go");
    const job j = s.play(wait_shielded(go), "export");
    stall_watch watch(5s);
    const time_point start(1h);
    const auto counted = [] { return detail::measuring::count_of(detail::rare_event::ignored_cancel); };
    const std::uint64_t before = counted();
    EXPECT_TRUE(watch.look(s.root, start).empty());
    j.cancel();
    EXPECT_TRUE(watch.look(s.root, start + 1s).empty());
    EXPECT_TRUE(watch.look(s.root, start + 5s).empty());
    const auto found = watch.look(s.root, start + 6s);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(watch.look(s.root, start + 7s).size(), 1U);
    EXPECT_EQ(counted(), before + 1) << "once, in roost_stalls_total";
    EXPECT_EQ(found[0].job, j.tree_node());
    EXPECT_EQ(found[0].cause, stall_cause::shield);
    EXPECT_EQ(found[0].lasted, 5s);
    EXPECT_EQ(found[0].waits_on, "event 'go'");
    EXPECT_NE(
        found[0].to_string().find("was cancelled 5 s ago and has not ended: it is in a shield and waits on event 'go'"),
        std::string::npos)
        << found[0].to_string();
    go.set();
    s.run();
    EXPECT_TRUE(watch.look(s.root, start + 9s).empty());
}

TEST(stalls, OBS_241_an_await_that_cannot_be_abandoned_is_named) {
    stage s;
    std::coroutine_handle<> outside;
    const job j = s.play(wait_foreign(outside), "bridge");
    stall_watch watch(1s);
    const time_point start(1h);
    j.cancel();
    s.run();
    EXPECT_TRUE(watch.look(s.root, start).empty());
    const auto found = watch.look(s.root, start + 1s);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].cause, stall_cause::uninterruptible);
    EXPECT_NE(found[0].to_string().find("it awaits a foreign awaitable"), std::string::npos) << found[0].to_string();
    outside.resume();
    s.run();
}

TEST(stalls, OBS_243_a_job_that_no_thread_runs_is_reported_after_the_limit) {
    stage s;
    event go("go");
    const job j = s.start(wait_for(go), "queued");
    stall_watch watch(5s);
    const time_point start(1h);
    const auto counted = [] { return detail::measuring::count_of(detail::rare_event::late_start); };
    const std::uint64_t before = counted();
    EXPECT_TRUE(watch.look(s.root, start).empty());
    const auto found = watch.look(s.root, start + 5s);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].job, j.tree_node());
    EXPECT_EQ(found[0].cause, stall_cause::not_begun);
    EXPECT_NE(found[0].to_string().find("was started 5 s ago and no thread has run it"), std::string::npos);
    EXPECT_EQ(watch.look(s.root, start + 6s).size(), 1U);
    EXPECT_EQ(counted(), before + 1);
    s.run();
    EXPECT_TRUE(watch.look(s.root, start + 7s).empty());
    go.set();
    s.run();
}

TEST(stalls, OBS_243_a_woken_job_that_no_thread_runs_is_reported_while_owners_are_tracked) {
    stage s;
    event go("go");
    set_owner_tracking(true);
    const job j = s.play(wait_for(go), "woken");
    stall_watch watch(5s);
    const time_point start(1h);
    EXPECT_TRUE(watch.look(s.root, start).empty());
    EXPECT_TRUE(watch.look(s.root, start + 9s).empty()) << "it waits";
    go.set();
    EXPECT_TRUE(watch.look(s.root, start + 10s).empty());
    const auto found = watch.look(s.root, start + 15s);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].job, j.tree_node());
    EXPECT_EQ(found[0].cause, stall_cause::not_resumed);
    EXPECT_NE(found[0].to_string().find("was woken 5 s ago and no thread has run it since"), std::string::npos);
    set_owner_tracking(false);
    s.run();
    EXPECT_TRUE(watch.look(s.root, start + 16s).empty());
}

TEST(stalls, OBS_242_a_job_that_waits_for_its_children_is_left_out) {
    stage s;
    event go("go");
    const job j = s.play(wait_for_children(go), "outer");
    stall_watch watch(1s);
    const time_point start(1h);
    j.cancel();
    s.run();
    EXPECT_TRUE(watch.look(s.root, start).empty());
    const auto found = watch.look(s.root, start + 2s);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].job.name(), "inner");
    go.set();
    s.run();
}

}  // namespace
