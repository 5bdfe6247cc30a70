#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/testing/manual_executor.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/lease.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

// What only leases hold, in reports and in guard_count().

using namespace roost;
using namespace roost::ext;
using roost::testing::manual_executor;

namespace {

task<> hold_on(event& e, std::string& log) {
    co_await e.wait();
    log += "served";
}
task<> lease_out(scope& s, lease& out) {
    out = s.lease();
    co_return;
}
task<> holds_a_lease(lease& out) { co_await with_scope(lease_out, std::ref(out)); }

TEST(leased, SHUT_115_what_only_leases_hold_is_counted_and_named) {
    manual_executor on("hand");
    shutdown server("server");
    owned_scope requests(server.tree_node(), on, scope_options("requests").report_failures());
    event go;
    std::string log;
    lease of_job;
    lease of_inner;
    {
        const job served = requests.launch("request", hold_on(go, log));
        requests.launch("upload", holds_a_lease(of_inner));
        on.run_all();
        of_job = lease::try_take(*roost::detail::task_access::core_of(served));
    }
    lease of_scope = requests.lease();
    go.set();
    on.run_all();
    auto done = server.shut_down();
    EXPECT_EQ(server.guard_count(), 2U);
    std::string report = server.report().to_string();
    EXPECT_NE(report.find("1 job 'request' ("), std::string::npos) << report;
    EXPECT_NE(report.find("1 job 'upload' ("), std::string::npos) << report;
    EXPECT_NE(report.find("waits on lease"), std::string::npos) << report;
    of_job.give_back();
    of_inner.give_back();
    on.run_all();
    EXPECT_FALSE(done.is_resolved());
    EXPECT_EQ(server.guard_count(), 1U);
    report = server.report().to_string();
    EXPECT_NE(report.find("'requests' ("), std::string::npos) << report;
    EXPECT_NE(report.find("waits on lease"), std::string::npos) << report;
    of_scope.give_back();
    EXPECT_TRUE(done.is_resolved());
    EXPECT_EQ(server.guard_count(), 0U);
    EXPECT_TRUE(server.report().is_empty());
    requests.request_close();
    on.run_all();
    EXPECT_TRUE(requests.is_closed());
}

TEST(leased, SHUT_115_members_without_work_do_not_hide_a_lease) {
    manual_executor on("hand");
    shutdown server("server");
    owned_scope requests(server.tree_node(), on, "requests");
    const callback unrelated(requests.observe(), level::abort, on, [] {});
    owned_scope idle(requests.tree_node(), on, "idle");
    lease of_scope = requests.lease();
    auto done = server.shut_down();
    EXPECT_EQ(server.guard_count(), 1U);
    const std::string report = server.report().to_string();
    EXPECT_NE(report.find("'requests' ("), std::string::npos) << report;
    EXPECT_NE(report.find("waits on lease"), std::string::npos) << report;
    of_scope.give_back();
    EXPECT_TRUE(done.is_resolved());
    EXPECT_EQ(server.guard_count(), 0U);
    EXPECT_TRUE(server.report().is_empty());
    idle.request_close();
    requests.request_close();
    on.run_all();
}

class looks_when_dropped {
public:
    looks_when_dropped(const shutdown& at, std::string& seen) : at_(&at), seen_(&seen) {}
    looks_when_dropped(looks_when_dropped&& other) noexcept : at_(std::exchange(other.at_, nullptr)), seen_(other.seen_) {}
    looks_when_dropped& operator=(const looks_when_dropped&) = delete;
    ~looks_when_dropped() {
        if (at_ != nullptr) {
            *seen_ += at_->report().to_string();
            *seen_ += std::to_string(at_->guard_count()) + ";";
        }
    }

private:
    const shutdown* at_;
    std::string* seen_;
};
task<looks_when_dropped> ends_looking(const shutdown& at, std::string& seen) { co_return looks_when_dropped(at, seen); }
task<> leave_one_looking(scope& s, const shutdown& at, std::string& seen) {
    s.launch("child", ends_looking(at, seen));
    co_return;
}
task<> waits_for_one_looking(const shutdown& at, std::string& seen) {
    co_await with_scope(leave_one_looking, std::ref(at), std::ref(seen));
}

TEST(leased, SHUT_115_a_child_whose_result_is_being_destroyed_is_no_lease) {
    manual_executor on("hand");
    shutdown server("server");
    owned_scope requests(server.tree_node(), on, "requests");
    std::string seen;
    requests.launch("parent", waits_for_one_looking(server, seen));
    server.shut_down();
    on.run_all();
    requests.launch("plain", ends_looking(server, seen));
    on.run_all();
    EXPECT_NE(seen.find("1;"), std::string::npos) << seen;
    EXPECT_EQ(seen.find("lease"), std::string::npos) << seen;
    requests.request_close();
    on.run_all();
}

TEST(leased, SHUT_115_also_a_scope_without_a_parent) {
    manual_executor on("hand");
    owned_scope jobs(on, "jobs");
    lease held = jobs.lease();
    const std::string text = roost::detail::report_of(roost::detail::task_access::core_of(jobs)).to_string();
    EXPECT_NE(text.find("1 owned scope 'jobs' ("), std::string::npos) << text;
    held.give_back();
    jobs.request_close();
    on.run_all();
}

TEST(leased, SHUT_115_at_every_depth) {
    manual_executor on("hand");
    for (const int depth : {1, 15, 16, 17, 40}) {
        shutdown server("server");
        std::vector<shutdown> chain{server};
        for (int i = 1; i < depth; ++i) {
            chain.push_back(chain.back().child("below"));
        }
        owned_scope requests(chain.back().tree_node(), on, "requests");
        owned_scope idle(requests.tree_node(), on, "idle");
        lease held = requests.lease();
        EXPECT_EQ(server.guard_count(), 1U) << depth;
        held.give_back();
        EXPECT_EQ(server.guard_count(), 0U) << depth;
        idle.request_close();
        requests.request_close();
        on.run_all();
    }
}

TEST(leased, SHUT_115_work_is_assumed_below_a_scope_with_more_than_64_members) {
    manual_executor on("hand");
    shutdown server("server");
    owned_scope requests(server.tree_node(), on, "requests");
    std::deque<owned_scope> idle;
    for (int i = 0; i < 100; ++i) {
        idle.emplace_back(requests.tree_node(), on, node_name("idle"));
    }
    lease of_scope = requests.lease();
    EXPECT_EQ(server.guard_count(), 0U);
    of_scope.give_back();
    for (owned_scope& one : idle) {
        one.request_close();
    }
    requests.request_close();
    on.run_all();
}

}  // namespace
