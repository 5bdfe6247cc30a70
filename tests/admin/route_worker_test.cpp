#include <roost/admin/detail/route_worker.hpp>

#include <gtest/gtest.h>

#include <future>
#include <set>
#include <thread>

namespace roost::admin::detail {
namespace {

// Waits for the next call that has ended.
http_reply next_reply(inbox& from) {
    for (;;) {
        if (const auto p = from.take()) {
            return std::move(static_cast<http_call&>(*p).reply());
        }
        from.bell().sleep_until(no_deadline);
    }
}

TEST(route_worker, OBS_267_calls_run_one_after_the_other_on_one_thread) {
    const auto in = std::make_shared<inbox>();
    route_worker w([](const http_request& from) { return http_reply::text(200, from.path()); }, in);
    for (const char* path : {"/a", "/b"}) {
        w.submit(std::make_shared<http_call>(http_request(path)));
        EXPECT_EQ(next_reply(*in).body(), path);
    }
    w.begin_end();
    EXPECT_TRUE(w.finish(no_deadline));
}

TEST(route_worker, OBS_267_one_that_was_never_called_has_no_thread) {
    route_worker w([](const http_request&) { return http_reply(); }, std::make_shared<inbox>());
    EXPECT_EQ(w.stuck_for(now()), duration(0));
    w.begin_end();
    EXPECT_TRUE(w.finish(time_point::min()));
}

TEST(route_worker, OBS_268_a_call_that_was_withdrawn_is_not_begun) {
    const auto in = std::make_shared<inbox>();
    std::promise<void> begun;
    std::promise<void> release;
    route_worker w(
        [&](const http_request& from) {
            if (from.path() == "/first") {
                begun.set_value();
                release.get_future().wait();
            }
            return http_reply::text(200, from.path());
        },
        in);
    w.submit(std::make_shared<http_call>(http_request("/first")));
    begun.get_future().wait();
    EXPECT_GT(w.stuck_for(now()), duration(0));
    const auto withdrawn = std::make_shared<http_call>(http_request("/withdrawn"));
    w.submit(withdrawn);
    w.submit(std::make_shared<http_call>(http_request("/last")));
    w.withdraw(*withdrawn);
    EXPECT_EQ(withdrawn.use_count(), 1);
    release.set_value();
    std::set<std::string> replies;
    replies.insert(next_reply(*in).body());
    replies.insert(next_reply(*in).body());
    EXPECT_EQ(replies, (std::set<std::string>{"/first", "/last"}));
    w.begin_end();
    EXPECT_TRUE(w.finish(no_deadline));
}

TEST(route_worker, OBS_270_what_a_handler_holds_is_destroyed_before_the_thread_ends) {
    const auto held = std::make_shared<int>(7);
    route_worker w([held](const http_request&) { return http_reply::text(200, std::to_string(*held)); },
                   std::make_shared<inbox>());
    w.submit(std::make_shared<http_call>(http_request("/")));
    w.begin_end();
    EXPECT_TRUE(w.finish(no_deadline));
    EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace roost::admin::detail
