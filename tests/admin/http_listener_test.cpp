#include <roost/admin/http_listener.hpp>

#include "raw_client.hpp"

#include <roost/base/atomic.hpp>

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace roost::admin {
namespace {

using runs = http_routes::runs;
using std::chrono::milliseconds;
using std::chrono::seconds;

http_handler says(const std::string& text) {
    return [text](const http_request&) { return http_reply::text(200, text); };
}
http_routes one(const std::string& text = "hello\n") { return std::move(http_routes().get("/page", says(text))); }

// What a listener told its operator.
class notices {
public:
    [[nodiscard]] http_listener::notice take() {
        return [this](const std::string& sentence) {
            const std::lock_guard hold(lock_);
            all_.push_back(sentence);
        };
    }
    [[nodiscard]] std::vector<std::string> all() const {
        const std::lock_guard hold(lock_);
        return all_;
    }

private:
    mutable std::mutex lock_;
    std::vector<std::string> all_;
};

TEST(http_listener, OBS_260_a_page_is_sent_with_its_type_and_length) {
    const http_listener door(0, one());
    const std::string reply = get(door.port(), "/page");
    EXPECT_EQ(status_of(reply), 200);
    EXPECT_TRUE(has(reply, "Content-Type: text/plain; charset=utf-8\r\n")) << reply;
    EXPECT_TRUE(has(reply, "Content-Length: 6\r\n")) << reply;
    EXPECT_EQ(body_of(reply), "hello\n");
    EXPECT_EQ(door.address(), "127.0.0.1:" + std::to_string(door.port()));
}

TEST(http_listener, OBS_260_head_has_the_fields_of_get_and_no_body) {
    const http_listener door(0, one());
    const std::string reply = ask(door.port(), "HEAD /page HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(status_of(reply), 200);
    EXPECT_TRUE(has(reply, "Content-Length: 6\r\n")) << reply;
    EXPECT_EQ(body_of(reply), "");
}

TEST(http_listener, OBS_260_other_methods_and_paths_are_refused) {
    const http_listener door(0, one());
    for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"}) {
        const std::string reply = ask(door.port(), std::string(method) + " /page HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_EQ(status_of(reply), 405) << method;
        EXPECT_TRUE(has(reply, "Allow: GET, HEAD\r\n")) << reply;
    }
    EXPECT_EQ(status_of(get(door.port(), "/other")), 404);
    EXPECT_EQ(status_of(get(door.port(), "/")), 404);
}

TEST(http_listener, OBS_260_a_reply_that_makes_no_sense_becomes_500) {
    http_routes pages;
    pages.get("/99", [](const http_request&) { return http_reply::text(99, "x"); }, runs::at_once);
    pages.get("/none", [](const http_request&) { return http_reply(); }, runs::at_once);
    const http_listener door(0, std::move(pages));
    EXPECT_EQ(status_of(get(door.port(), "/99")), 500);
    EXPECT_EQ(status_of(get(door.port(), "/none")), 500);
}

TEST(http_listener, OBS_261_a_connection_carries_one_request) {
    const http_listener door(0, one());
    const raw_client c(door.port());
    c.send(get_text("/page", "Connection: keep-alive\r\n") + get_text("/page"));
    const std::string all = c.read_all();
    EXPECT_TRUE(has(all, "Connection: close\r\n")) << all;
    EXPECT_EQ(all.find("HTTP/1.1", 1), std::string::npos) << all;
}

TEST(http_listener, OBS_261_an_old_client_and_one_that_only_listens_are_answered) {
    const http_listener door(0, one());
    EXPECT_EQ(body_of(ask(door.port(), "GET /page HTTP/1.0\r\n\r\n")), "hello\n");
    const raw_client c(door.port());
    c.send(get_text("/page"));
    c.end_sending();
    EXPECT_EQ(body_of(c.read_all()), "hello\n");
}

TEST(http_listener, OBS_262_a_path_is_compared_as_it_was_sent) {
    const http_listener door(0, one());
    for (const char* path : {"/%70age", "/page/", "//page", "/./page", "/x/../page", "/../../etc/passwd", "/PAGE",
                             "/page%00", "http://x/page", "page", "*"}) {
        EXPECT_NE(status_of(get(door.port(), path)), 200) << path;
    }
    EXPECT_EQ(status_of(get(door.port(), "/page?a=/../b")), 200);
}

TEST(http_listener, OBS_262_a_star_stands_for_the_rest_of_a_path) {
    http_routes pages;
    pages.get("/node/*", [](const http_request& from) { return http_reply::text(200, from.path() + " " + from.query()); });
    pages.get("/node/1", says("exact"));
    pages.get("/node/7*", says("longer"));
    const http_listener door(0, std::move(pages));
    EXPECT_EQ(body_of(get(door.port(), "/node/42?depth=2")), "/node/42 depth=2");
    EXPECT_EQ(body_of(get(door.port(), "/node/1")), "exact");
    EXPECT_EQ(body_of(get(door.port(), "/node/77")), "longer");
    EXPECT_EQ(status_of(get(door.port(), "/nod")), 404);
    EXPECT_EQ(body_of(get(door.port(), "/node/*")), "/node/* ");
}

TEST(http_listener, OBS_262_a_handler_sees_what_the_client_asked_for) {
    http_routes pages;
    pages.get("/q", [](const http_request& from) {
        return http_reply::text(200, from.parameter("a").value_or("-") + "|" + std::string(from.header("accept")) +
                                         (from.is_head() ? "|head" : "|get"));
    });
    const http_listener door(0, std::move(pages));
    EXPECT_EQ(body_of(get(door.port(), "/q?a=x%20y", "Accept: text/html\r\n")), "x y|text/html|get");
}

TEST(http_listener, OBS_263_a_header_that_is_too_large_receives_431) {
    const http_listener door(0, one());
    EXPECT_EQ(status_of(get(door.port(), "/page", "X: " + std::string(8000, 'y') + "\r\n")), 200);
    EXPECT_EQ(status_of(get(door.port(), "/page", "X: " + std::string(9000, 'y') + "\r\n")), 431);
    std::string many;
    for (int i = 0; i < 1500; ++i) {
        many += "a:b\r\n";
    }
    EXPECT_EQ(status_of(get(door.port(), "/page", many)), 431);
}

TEST(http_listener, OBS_263_a_request_with_a_body_is_refused_and_the_body_is_not_read) {
    const http_listener door(0, one());
    EXPECT_EQ(status_of(get(door.port(), "/page", "Content-Length: 5\r\n")), 413);
    EXPECT_EQ(status_of(get(door.port(), "/page", "Transfer-Encoding: chunked\r\n")), 413);
    EXPECT_EQ(status_of(get(door.port(), "/page", "Content-Length: 0\r\n")), 200);
    EXPECT_EQ(
        status_of(ask(door.port(), "POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n" + std::string(100, 'b'))),
        405);
    EXPECT_EQ(status_of(ask(door.port(),
                            "POST /page HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000000000\r\n\r\n")),
              405);
}

TEST(http_listener, OBS_267_a_handler_that_blocks_keeps_no_other_page_back) {
    std::promise<void> release;
    http_routes pages = one();
    pages.get("/slow", [wait = release.get_future().share()](const http_request&) {
        wait.wait();
        return http_reply::text(200, "at last");
    });
    const http_listener door(0, std::move(pages));
    const raw_client first(door.port());
    const raw_client second(door.port());
    first.send(get_text("/slow"));
    second.send(get_text("/slow"));
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(status_of(get(door.port(), "/page")), 200);
    }
    EXPECT_FALSE(first.read_some(0));
    release.set_value();
    EXPECT_EQ(body_of(first.read_all()), "at last");
    EXPECT_EQ(body_of(second.read_all()), "at last");
}

TEST(http_listener, OBS_267_a_route_calls_its_handler_once_at_a_time) {
    seam::atomic<int> inside{0};
    seam::atomic<int> most{0};
    http_routes pages;
    pages.get("/count", [&](const http_request&) {
        const int n = inside.fetch_add(1, seam::mo::seq_cst) + 1;
        if (n > most.load(seam::mo::seq_cst)) {
            most.store(n, seam::mo::seq_cst);
        }
        seam::yield_thread();
        inside.fetch_sub(1, seam::mo::seq_cst);
        return http_reply::text(200, "counted");
    });
    const http_listener door(0, std::move(pages));
    std::vector<raw_client> all;
    for (int i = 0; i < 40; ++i) {
        all.emplace_back(door.port());
        all.back().send(get_text("/count"));
    }
    for (const raw_client& c : all) {
        EXPECT_EQ(body_of(c.read_all()), "counted");
    }
    EXPECT_EQ(most.load(seam::mo::seq_cst), 1);
}

TEST(http_listener, OBS_268_a_handler_that_does_not_return_in_time_costs_a_503_and_one_notice) {
    std::promise<void> release;
    notices told;
    http_routes pages = one();
    pages.get("/stuck", [wait = release.get_future().share()](const http_request&) {
        wait.wait();
        return http_reply::text(200, "too late");
    });
    const http_listener door(0, std::move(pages), http_limits().handle_within(milliseconds(50)), told.take());
    for (int i = 0; i < 3; ++i) {
        const std::string reply = get(door.port(), "/stuck");
        EXPECT_EQ(status_of(reply), 503);
        EXPECT_TRUE(has(reply, "has not returned in time")) << reply;
    }
    EXPECT_EQ(status_of(get(door.port(), "/page")), 200);
    ASSERT_EQ(told.all().size(), 1U);
    EXPECT_TRUE(has(told.all()[0], "the handler of '/stuck' has not returned for ")) << told.all()[0];
    release.set_value();
    // The call that was given up ends now, and the route serves again.
    std::string reply;
    for (int i = 0; i < 200 && status_of(reply) != 200; ++i) {
        reply = get(door.port(), "/stuck");
    }
    EXPECT_EQ(body_of(reply), "too late");
}

TEST(http_listener, OBS_269_a_handler_that_throws_becomes_500_without_the_text_of_the_error) {
    http_routes pages;
    const auto fails = [](const http_request&) -> http_reply { throw std::runtime_error("password=secret"); };
    pages.get("/alone", fails).get("/at-once", fails, runs::at_once);
    pages.get("/odd", [](const http_request&) -> http_reply { throw 7; });  // NOLINT(hicpp-exception-baseclass)
    const http_listener door(0, std::move(pages));
    for (const char* path : {"/alone", "/at-once", "/odd", "/alone"}) {
        const std::string reply = get(door.port(), path);
        EXPECT_EQ(status_of(reply), 500) << path;
        EXPECT_FALSE(has(reply, "secret")) << reply;
    }
}

TEST(http_listener, OBS_270_its_end_lets_a_reply_out_that_is_on_its_way) {
    std::promise<void> begun;
    std::promise<void> release;
    http_routes pages;
    pages.get("/slow", [&, wait = release.get_future().share()](const http_request&) {
        begun.set_value();
        wait.wait();
        return http_reply::text(200, "at last");
    });
    auto door = std::make_unique<http_listener>(0, std::move(pages));
    const raw_client c(door->port());
    c.send(get_text("/slow"));
    begun.get_future().wait();
    const raw_client silent(door->port());
    std::thread ends([&] { door.reset(); });
    EXPECT_EQ(silent.read_all(), "");  // dropped first, so the end has begun
    release.set_value();
    EXPECT_EQ(body_of(c.read_all()), "at last");
    ends.join();
}

TEST(http_listener, OBS_270_its_end_leaves_a_handler_behind_that_does_not_return) {
    std::promise<void> begun;
    const auto release = std::make_shared<std::promise<void>>();
    std::promise<void> over;
    notices told;
    http_routes pages;
    pages.get("/stuck", [&begun, &over, wait = release->get_future().share()](const http_request&) {
        begun.set_value();
        wait.wait();
        over.set_value();
        return http_reply::text(200, "nobody reads this");
    });
    auto door = std::make_unique<http_listener>(0, std::move(pages), http_limits(), told.take());
    const raw_client c(door->port());
    c.send(get_text("/stuck"));
    begun.get_future().wait();
    const auto start = std::chrono::steady_clock::now();
    door.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(30));
    EXPECT_TRUE(c.is_closed_within(seconds(30)));
    ASSERT_EQ(told.all().size(), 1U);
    EXPECT_EQ(told.all()[0], "the handler of '/stuck' has not returned: its thread is left behind");
    release->set_value();
    over.get_future().wait();
}

TEST(http_listener, OBS_272_every_reply_forbids_scripts_frames_and_caches) {
    http_routes pages = one();
    pages.get("/own", [](const http_request&) {
        return http_reply::text(200, "x")
            .header("Content-Security-Policy", "default-src 'self'")
            .header("X-Broken", "a\r\nb: c");
    });
    const http_listener door(0, std::move(pages));
    for (const char* path : {"/page", "/nothing"}) {
        const std::string reply = get(door.port(), path);
        for (const char* field : {"Cache-Control: no-store\r\n", "Content-Security-Policy: default-src 'none'\r\n",
                                  "X-Content-Type-Options: nosniff\r\n", "X-Frame-Options: DENY\r\n"}) {
            EXPECT_TRUE(has(reply, field)) << field << reply;
        }
    }
    const std::string own = get(door.port(), "/own");
    EXPECT_TRUE(has(own, "Content-Security-Policy: default-src 'self'\r\n")) << own;
    EXPECT_FALSE(has(own, "default-src 'none'")) << own;
    EXPECT_FALSE(has(own, "b: c")) << own;
}

TEST(http_listener, OBS_265_a_large_reply_arrives_whole) {
    const std::string large(8 << 20, 'x');
    const http_listener door(0, one(large));
    EXPECT_EQ(body_of(get(door.port(), "/page")).size(), large.size());
}

}  // namespace
}  // namespace roost::admin
