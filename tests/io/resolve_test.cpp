#include "../sync/coroutines.hpp"
#include "support.hpp"

#include <roost/io/resolve.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/with_scope.hpp>
#include <roost/testing/manual_executor.hpp>
#include <roost/testing/virtual_time.hpp>
#include <roost/tree/visit.hpp>

#include <netdb.h>
#include <stop_token>

using namespace roost;
using namespace io_tests;

namespace {

// A lane that runs nothing until the test says so.
class hand_lane final : public ext::blocking_service {
public:
    bool submit(ext::blocking_work& w) noexcept override {
        if (refuses) {
            return false;
        }
        work = &w;
        w.queued = true;
        return true;
    }
    bool withdraw(ext::blocking_work& w) noexcept override {
        const bool was_queued = w.queued;
        w.queued = false;
        withdrawn += was_queued ? 1 : 0;
        return was_queued;
    }
    void begin() noexcept { work->queued = false; }
    ext::blocking_work* work = nullptr;
    int withdrawn = 0;
    bool refuses = false;
};
class lane_executor final : public executor {
public:
    explicit lane_executor(testing::manual_executor& on, ext::blocking_service* lane) : on_(&on), lane_(lane) {}
    bool post(ext::work& w) noexcept override { return on_->post(w); }
    ext::blocking_service* blocking() noexcept override { return lane_; }
    [[nodiscard]] bool is_here() const noexcept override { return on_->is_here(); }

private:
    testing::manual_executor* on_;
    ext::blocking_service* lane_;
};

using addresses = std::vector<io::endpoint>;

task<> keep(io::result<addresses>& to, std::string name, std::string service) {
    to = co_await io::resolve(std::move(name), std::move(service));
}

TEST(io_resolve, IO_55_numbers_need_no_lane) {
    testing::manual_executor hand;
    owned_scope root(hand, scope_options("root").report_failures());
    for (const auto& [name, text] : {std::pair("10.1.2.3", "10.1.2.3:80"), std::pair("::1", "[::1]:80")}) {
        io::result<addresses> got(io::errc::cancelled);
        root.launch("resolve", keep(got, name, "80"));
        hand.run_all();
        ASSERT_TRUE(got) << got.code().message();
        ASSERT_EQ(got->size(), 1U);
        EXPECT_EQ(got->front().to_string(), text);
    }
    root.request_close();
    hand.run_all();
}

task<> resolve_localhost() {
    const addresses all = co_await io::resolve("localhost", "80").or_throw();
    bool has_loopback = false;
    for (const io::endpoint& e : all) {
        has_loopback = has_loopback || e.to_string() == "127.0.0.1:80" || e.to_string() == "[::1]:80";
    }
    EXPECT_TRUE(has_loopback);
    const addresses named = co_await io::resolve("127.0.0.1", "http").or_throw();
    EXPECT_EQ(named.front().to_string(), "127.0.0.1:80");
}
TEST(io_resolve, IO_56_names_are_resolved_on_the_lane) {
    on_each_host([](host& where) {
        if (where.where()->blocking() != nullptr) {
            where.run(resolve_localhost());
        }
    });
}
TEST(io_resolve, IO_56_names_are_resolved_in_virtual_time) {
    testing::virtual_time time;
    owned_scope root(time, scope_options("root").report_failures());
    root.launch("resolve", resolve_localhost());
    time.run();
    root.request_close();
    time.run();
    EXPECT_TRUE(root.is_closed());
}

TEST(io_resolve, IO_56_an_executor_without_a_lane_is_an_error) {
    testing::manual_executor hand;
    owned_scope root(hand, scope_options("root").report_failures());
    io::result<addresses> got(std::in_place);
    root.launch("resolve", keep(got, "localhost", "80"));
    hand.run_all();
    EXPECT_EQ(got.code(), std::errc::not_supported);
    root.request_close();
    hand.run_all();
    EXPECT_TRUE(root.is_closed());
}

TEST(io_resolve, IO_56_a_lane_that_refuses_is_an_error) {
    testing::manual_executor hand;
    hand_lane lane;
    lane.refuses = true;
    lane_executor where(hand, &lane);
    owned_scope root(where, scope_options("root").report_failures());
    io::result<addresses> got(std::in_place);
    root.launch("resolve", keep(got, "localhost", "80"));
    hand.run_all();
    EXPECT_EQ(got.code(), io::errc::closed);
    root.request_close();
    hand.run_all();
}

TEST(io_resolve, IO_56_what_does_not_exist_has_no_address) {
    for (const auto& [name, service] : {std::pair<std::string, std::string>("127.0.0.1", "65536"),
                                        {"127.0.0.1", "-1"},
                                        {"127.0.0.1", "+1"},
                                        {"127.0.0.1", " 1"},
                                        {"127.0.0.1", ""},
                                        {"", "80"},
                                        {std::string("a\0b", 3), "80"},
                                        {"127.0.0.1", "no-such-service-"},
                                        {"127.0.0.1", std::string("http\0x", 6)}}) {
        EXPECT_EQ(io::resolve(name, service).blocking().code(), io::errc::no_address) << name << " " << service;
    }
}

// --- cancelling -----------------------------------------------------------------------------------------------------------------

TEST(io_resolve, IO_57_a_call_that_has_not_begun_is_withdrawn) {
    testing::manual_executor hand;
    hand_lane lane;
    lane_executor where(hand, &lane);
    owned_scope root(where, scope_options("root").report_failures());
    io::result<addresses> got(std::in_place);
    job call = root.launch("resolve", keep(got, "localhost", "80"));
    hand.run_all();
    ASSERT_NE(lane.work, nullptr);
    EXPECT_NE(observe::tree_to_string(root.tree_node()).find("address of 'localhost'"), std::string::npos)
        << observe::tree_to_string(root.tree_node());
    call.cancel();
    hand.run_all();
    EXPECT_EQ(lane.withdrawn, 1);
    EXPECT_EQ(call.state(), job_state::cancelled);
    root.request_close();
    hand.run_all();
}

TEST(io_resolve, IO_57_a_call_that_runs_is_abandoned) {
    testing::manual_executor hand;
    hand_lane lane;
    lane_executor where(hand, &lane);
    owned_scope root(where, scope_options("root").report_failures());
    io::result<addresses> got(std::in_place);
    job call = root.launch("resolve", keep(got, "localhost", "80"));
    hand.run_all();
    lane.begin();
    call.cancel();
    hand.run_all();
    EXPECT_EQ(call.state(), job_state::cancelled) << "the job ends before the call does";
    root.request_close();
    hand.run_all();
    EXPECT_TRUE(root.is_closed());
    lane.work->run();  // and frees what the job left behind
    EXPECT_EQ(lane.withdrawn, 0);
}

sync_testing::hosted until_stopped(executor&, std::stop_token stop, wait_status& how) {
    const auto got = co_await with_stop(io::resolve("localhost", "80"), stop);
    how = got.status();
}
TEST(io_resolve, IO_57_stop_ends_the_wait_of_any_coroutine_type) {
    testing::manual_executor hand;
    hand_lane lane;
    lane_executor where(hand, &lane);
    std::stop_source stop;
    wait_status how = wait_status::done;
    const auto waiting = until_stopped(where, stop.get_token(), how);
    ASSERT_NE(lane.work, nullptr);
    stop.request_stop();
    hand.run_all();
    EXPECT_TRUE(waiting.done());
    EXPECT_EQ(how, wait_status::cancelled);
    EXPECT_EQ(lane.withdrawn, 1);
}

// --- threads -----------------------------------------------------------------------------------------------------------------

TEST(io_resolve, IO_58_blocking_forms) {
    EXPECT_EQ(io::resolve("127.0.0.1", "80").blocking().value().front().to_string(), "127.0.0.1:80");
    EXPECT_FALSE(io::resolve("localhost", "80").blocking().value().empty());
    EXPECT_FALSE(io::resolve("localhost", "80").blocking(hang_limit).value().empty());
    const auto late = io::resolve("localhost", "80").blocking(time_point::min());
    EXPECT_TRUE(late || late.code() == io::errc::timed_out);
}

TEST(io_resolve, IO_56_errors_of_the_resolver) {
    const std::error_code again(EAI_AGAIN, io::resolve_category());
    EXPECT_EQ(again, std::errc::resource_unavailable_try_again);
    EXPECT_EQ(again.message(), ::gai_strerror(EAI_AGAIN));
    EXPECT_NE(std::error_code(EAI_FAIL, io::resolve_category()), std::errc::resource_unavailable_try_again);
    EXPECT_STREQ(io::resolve_category().name(), "roost.resolve");
}

}  // namespace
