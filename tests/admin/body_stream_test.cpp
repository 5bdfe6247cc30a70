#include <roost/admin/body_stream.hpp>

#include "raw_client.hpp"

#include <roost/admin/http_listener.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <stdexcept>

namespace roost::admin {
namespace {

using std::chrono::seconds;

// What a stream sends, filled by the test.
class feed {
public:
    void push(std::string text) {
        const std::lock_guard hold(lock_);
        waiting_.push_back(std::move(text));
        waker_.ring();
    }
    void end() { push(""); }
    [[nodiscard]] std::optional<std::string> take() {
        const std::lock_guard hold(lock_);
        if (waiting_.empty()) {
            return std::nullopt;
        }
        std::string first = std::move(waiting_.front());
        waiting_.pop_front();
        return first;
    }
    void listen(stream_waker w) {
        const std::lock_guard hold(lock_);
        waker_ = std::move(w);
    }
    std::promise<void> gone;

private:
    std::mutex lock_;
    std::deque<std::string> waiting_;
    stream_waker waker_;
};

class fed final : public body_stream {
public:
    explicit fed(std::shared_ptr<feed> from) : from_(std::move(from)) {}
    ~fed() override { from_->gone.set_value(); }
    fed(const fed&) = delete;
    fed& operator=(const fed&) = delete;
    void begin(const stream_waker& w) noexcept override { from_->listen(w); }
    stream_piece read(char* to, std::size_t room) override {
        const std::optional<std::string> next = from_->take();
        if (!next) {
            return stream_piece::later();
        }
        if (*next == "throw") {
            throw std::runtime_error("broken");
        }
        std::memcpy(to, next->data(), std::min(room, next->size()));
        return next->empty() ? stream_piece::end() : stream_piece::bytes(std::min(room, next->size()));
    }

private:
    std::shared_ptr<feed> from_;
};

http_routes streams(const std::shared_ptr<feed>& from) {
    return std::move(http_routes().get(
        "/events", [from](const http_request&) { return http_reply("text/event-stream", std::make_unique<fed>(from)); }));
}

std::string read_until(const raw_client& c, const std::string& text) {
    std::string all;
    while (!has(all, text)) {
        const auto piece = c.read_some(hang_milliseconds);
        if (!piece || piece->empty()) {
            ADD_FAILURE() << "'" << text << "' never came, but " << all;
            break;
        }
        all += *piece;
    }
    return all;
}

TEST(body_stream, OBS_271_pieces_are_sent_as_they_come) {
    const auto from = std::make_shared<feed>();
    const http_listener door(0, streams(from));
    const raw_client c(door.port());
    from->push("first");
    c.send(get_text("/events"));
    const std::string head = read_until(c, "first");
    EXPECT_TRUE(has(head, "Content-Type: text/event-stream\r\n")) << head;
    EXPECT_TRUE(has(head, "Transfer-Encoding: chunked\r\n")) << head;
    for (int i = 0; i < 100; ++i) {
        from->push("piece " + std::to_string(i) + ";");
        read_until(c, "piece " + std::to_string(i) + ";");
    }
    from->end();
    EXPECT_TRUE(c.read_all().ends_with("0\r\n\r\n"));
    from->gone.get_future().wait();
}

TEST(body_stream, OBS_271_an_old_client_reads_to_the_end_of_the_connection) {
    const auto from = std::make_shared<feed>();
    const http_listener door(0, streams(from));
    from->push("all");
    from->end();
    EXPECT_EQ(body_of(ask(door.port(), "GET /events HTTP/1.0\r\n\r\n")), "all");
}

TEST(body_stream, OBS_271_a_stream_that_fails_ends_the_connection) {
    const auto from = std::make_shared<feed>();
    const http_listener door(0, streams(from));
    from->push("some");
    from->push("throw");
    EXPECT_FALSE(get(door.port(), "/events").ends_with("0\r\n\r\n"));
    from->gone.get_future().wait();
}

TEST(body_stream, OBS_271_a_client_that_has_gone_ends_an_idle_stream) {
    const auto from = std::make_shared<feed>();
    const http_listener door(0, streams(from));
    {
        const raw_client c(door.port());
        c.send(get_text("/events"));
        from->push("first");
        read_until(c, "first");
    }
    EXPECT_EQ(from->gone.get_future().wait_for(seconds(60)), std::future_status::ready);
    from->push("nobody hears this");
}

TEST(body_stream, OBS_271_a_client_that_has_gone_behind_bytes_of_its_own_ends_an_idle_stream) {
    const auto from = std::make_shared<feed>();
    const http_listener door(0, streams(from));
    {
        const raw_client c(door.port());
        c.send(get_text("/events") + "and more that nobody reads");
        from->push("first");
        read_until(c, "first");
        c.send("and more");
    }
    EXPECT_EQ(from->gone.get_future().wait_for(seconds(60)), std::future_status::ready);
}

TEST(body_stream, OBS_271_the_end_of_the_listener_ends_streams_and_later_rings_do_nothing) {
    const auto from = std::make_shared<feed>();
    auto door = std::make_unique<http_listener>(0, streams(from));
    const raw_client c(door->port());
    c.send(get_text("/events"));
    from->push("first");
    read_until(c, "first");
    door.reset();
    EXPECT_TRUE(c.is_closed_within(seconds(60)));
    from->gone.get_future().wait();
    from->push("nobody hears this");
}

TEST(body_stream, OBS_271_head_of_a_stream_has_no_body) {
    const auto from = std::make_shared<feed>();
    const http_listener door(0, streams(from));
    const std::string reply = ask(door.port(), "HEAD /events HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(status_of(reply), 200);
    EXPECT_EQ(body_of(reply), "");
    from->gone.get_future().wait();
}

}  // namespace
}  // namespace roost::admin
