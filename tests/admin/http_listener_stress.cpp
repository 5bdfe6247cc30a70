// Many clients of every kind at once, while listeners come and go.

#include <roost/admin/http_listener.hpp>

#include "raw_client.hpp"

#include <roost/base/atomic.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace roost::admin {
namespace {

using std::chrono::milliseconds;

duration length() {
    const char* const text = std::getenv("ROOST_STRESS_SECONDS");
    return std::chrono::duration_cast<duration>(std::chrono::duration<double>(text == nullptr ? 1.0 : std::atof(text)));
}

// Sends a number for each ring, from a thread of its own.
class ticks final : public body_stream {
public:
    void begin(const stream_waker& w) noexcept override {
        thread_ = std::thread([w, on = on_] {
            while (on->load(seam::mo::seq_cst)) {
                w.ring();
                std::this_thread::sleep_for(milliseconds(1));
            }
            w.ring();
        });
    }
    ~ticks() override {
        on_->store(false, seam::mo::seq_cst);
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    ticks() = default;
    ticks(const ticks&) = delete;
    ticks& operator=(const ticks&) = delete;
    stream_piece read(char* to, std::size_t room) override {
        if (count_++ % 2 == 1) {
            return stream_piece::later();
        }
        const std::string text = std::to_string(count_) + "\n";
        text.copy(to, room);
        return count_ > 20 ? stream_piece::end() : stream_piece::bytes(std::min(room, text.size()));
    }

private:
    std::shared_ptr<seam::atomic<bool>> on_ = std::make_shared<seam::atomic<bool>>(true);
    std::thread thread_;
    int count_ = 0;
};

http_routes pages() {
    http_routes all;
    all.get("/here", [](const http_request&) { return http_reply::text(200, "here"); }, http_routes::runs::at_once);
    all.get("/alone", [](const http_request&) { return http_reply::text(200, std::string(200'000, 'x')); });
    all.get("/slow", [](const http_request&) {
        std::this_thread::sleep_for(milliseconds(2));
        return http_reply::text(200, "slow");
    });
    all.get("/ticks", [](const http_request&) { return http_reply("text/plain", std::make_unique<ticks>()); });
    return all;
}

// Returns the status of a client that behaves, 0 of one that does not.
int one_client(unsigned short port, std::uint64_t kind) {
    const raw_client c(port);
    switch (kind % 9) {
        case 0: c.send(get_text("/here")); return status_of(c.read_all());
        case 1: c.send(get_text("/alone")); return status_of(c.read_all());
        case 2: c.send(get_text("/slow")); return status_of(c.read_all());
        case 3: c.send(get_text("/ticks")); return status_of(c.read_all());
        case 4: c.send(get_text("/alone")); break;   // goes without reading
        case 5: c.send("GET /he"); break;            // goes in the middle
        case 6:
            c.send("nonsense\r\n\r\n");
            static_cast<void>(c.read_all());
            break;
        case 7:
            c.send(get_text("/ticks"));
            static_cast<void>(c.read_some(5));
            break;  // goes while it streams
        default: break;                              // says nothing
    }
    return 0;
}

TEST(http_listener_stress, OBS_266_OBS_271_every_kind_of_client_at_once) {
    const time_point end = deadline_after(now(), length());
    seam::atomic<int> served{0};
    for (int round = 0; round == 0 || now() < end; ++round) {
        auto door = std::make_unique<http_listener>(0, pages(), http_limits().connections(32).read_within(milliseconds(50)));
        const time_point round_end = deadline_after(now(), length() / 4);
        std::vector<std::thread> clients;
        for (int t = 0; t < 4; ++t) {
            clients.emplace_back([&, t, port = door->port()] {
                for (std::uint64_t i = static_cast<std::uint64_t>(t); now() < round_end; i += 7) {
                    served.fetch_add(one_client(port, i) == 200 ? 1 : 0, seam::mo::relaxed);
                }
            });
        }
        if (round % 2 == 1) {
            door.reset();  // in the middle of everything
        }
        for (std::thread& c : clients) {
            c.join();
        }
        if (door) {
            EXPECT_EQ(status_of(get(door->port(), "/here")), 200);
        }
    }
    EXPECT_GT(served.load(seam::mo::seq_cst), 0);
    std::printf("%d requests were served\n", served.load(seam::mo::seq_cst));
}

}  // namespace
}  // namespace roost::admin
