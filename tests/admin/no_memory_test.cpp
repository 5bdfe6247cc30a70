// The Nth allocation of the listener's thread, of a route's thread and of the thread that makes a listener fails. The client gets a
// reply or the end of its connection, the next client is served, and nothing leaks.

#include <roost/admin/admin.hpp>

#include "../gauntlet/failing_memory.hpp"
#include "raw_client.hpp"

#include <gtest/gtest.h>

#include <new>

namespace roost::admin {
namespace {

constexpr long most_allocations = 80;  // more than a request needs

// The Nth allocation of the thread that calls the handler fails.
http_reply arm(const http_request& from) {
    gauntlet::allocations_left = std::stol(from.parameter("n").value());
    return http_reply::text(200, "armed\n");
}
http_reply disarm(const http_request&) {
    gauntlet::allocations_left = -1;
    return http_reply::text(200, "disarmed\n");
}
http_routes pages() {
    http_routes all;
    all.get("/arm", arm, http_routes::runs::at_once);
    all.get("/disarm", disarm, http_routes::runs::at_once);
    all.get("/page", [](const http_request& from) { return http_reply::text(200, "query " + from.query()); });
    all.get(
        "/here", [](const http_request& from) { return http_reply::text(200, from.path() + std::string(100, '.')); },
        http_routes::runs::at_once);
    return all;
}

void expect_reply_or_end(const std::string& reply, long n) {
    const int status = status_of(reply);
    EXPECT_TRUE(status == 200 || status == 500 || reply.empty()) << n << ": " << reply;
}

TEST(no_memory, OBS_263_the_listener_survives_each_allocation_that_fails) {
    const http_listener door(0, pages());
    for (long n = 0; n < most_allocations; ++n) {
        expect_reply_or_end(get(door.port(), "/arm?n=" + std::to_string(n)), n);
        expect_reply_or_end(get(door.port(), "/page?" + std::string(100, 'x')), n);
        expect_reply_or_end(get(door.port(), "/here"), n);
        while (status_of(get(door.port(), "/disarm")) != 200) {}
        ASSERT_EQ(status_of(get(door.port(), "/page")), 200) << n;
        ASSERT_EQ(status_of(get(door.port(), "/here")), 200) << n;
    }
}

TEST(no_memory, OBS_269_a_handler_without_memory_costs_its_client_a_500) {
    http_routes all;
    all.get("/page", [](const http_request& from) {
        gauntlet::allocations_left = from.query() == "fail" ? 0 : -1;
        return http_reply::text(200, std::string(100, 'x'));
    });
    const http_listener door(0, std::move(all));
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(status_of(get(door.port(), "/page?fail")), 500);
        EXPECT_EQ(status_of(get(door.port(), "/page")), 200);
    }
}

// Returns true if the allocation did not fail, because there are not so many.
bool try_to_make(long n) {
    gauntlet::allocations_left = n;
    try {
        const http_listener door(0, pages());
        const bool all = gauntlet::allocations_left >= 0;
        gauntlet::allocations_left = -1;
        EXPECT_EQ(status_of(get(door.port(), "/here")), 200);
        return all;
    } catch (const std::bad_alloc&) {
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), std::errc::not_enough_memory) << n;
    }
    EXPECT_EQ(gauntlet::allocations_left, -1);
    gauntlet::allocations_left = -1;
    return false;
}

TEST(no_memory, OBS_273_a_listener_that_cannot_be_made_leaves_nothing_behind) {
    bool made = false;
    for (long n = 0; n < 500 && !made; ++n) {
        static_cast<void>(try_to_make(n));  // what is made once for ever is made
        const long before = gauntlet::outstanding.load();
        made = try_to_make(n);
        const long after = gauntlet::outstanding.load();
        EXPECT_EQ(after, before) << n;
    }
    EXPECT_TRUE(made);
}

}  // namespace
}  // namespace roost::admin
