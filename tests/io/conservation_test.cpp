// No byte is lost, however operations end: deadlines, cancels and stop at random moments.

#include "support.hpp"

#include <roost/sync/interruptible.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/with_scope.hpp>

#include <future>
#include <optional>
#include <stop_token>

using namespace roost;
using namespace io_tests;

namespace {

class dice {
public:
    explicit dice(std::uint32_t seed) : state_(seed) {}
    std::size_t operator()(std::size_t below) {
        state_ = state_ * 1664525U + 1013904223U;
        return (state_ >> 8U) % below;
    }

private:
    std::uint32_t state_;
};

// Writes all of it, with deadlines that fall anywhere.
task<> write_with_deadlines(io::tcp_stream& to, const std::string& text) {
    dice random(1);
    std::size_t sent = 0;
    while (sent < text.size()) {
        const std::size_t size = std::min(text.size() - sent, 1 + random(20'000));
        const io::const_buffer first(text.data() + sent, size / 2);
        const io::const_buffer second(text.data() + sent + size / 2, size - size / 2);
        const auto limit = std::chrono::microseconds(random(300));
        std::optional<io::result<std::size_t>> done;
        switch (random(3)) {
            case 0: done = co_await move_on_after(limit, to.write_all(first, second)); break;
            case 1: done = co_await move_on_after(limit, to.write_some(first)); break;
            default: done = co_await move_on_after(limit, to.write_all(io::const_buffer(text.data() + sent, size))); break;
        }
        if (done) {
            EXPECT_TRUE(*done || done->code() == io::errc::cancelled) << done->code().message();
            sent += done->transferred();
        }
    }
    to.close();
}
task<> read_with_deadlines(io::tcp_stream& from, const std::string& text) {
    dice random(2);
    std::string got;
    std::string piece(30'000, '\0');
    for (bool at_end = false; !at_end;) {
        const auto limit = std::chrono::microseconds(random(300));
        const io::mutable_buffer to(piece.data(), 1 + random(piece.size()));
        std::optional<io::result<std::size_t>> done;
        if (random(2) == 0) {
            done = co_await move_on_after(limit, from.read_exactly(to));
        } else {
            done = co_await move_on_after(limit, from.read_some(to));
            at_end = done && *done && **done == 0;
        }
        if (done) {
            at_end = at_end || done->code() == io::errc::end_of_stream;
            EXPECT_TRUE(*done || at_end || done->code() == io::errc::cancelled) << done->code().message();
            got.append(piece.data(), done->transferred());
        }
    }
    EXPECT_EQ(got.size(), text.size());
    EXPECT_TRUE(got == text);
}
task<> write_and_read_at_random() {
    tcp_pair both = connected();
    const std::string text = pattern(2'000'000);
    co_await with_scope(
        [](scope& s, tcp_pair& pair, const std::string& all) -> task<> {
            s.launch("writer", write_with_deadlines(pair.client, all));
            s.launch("reader", read_with_deadlines(pair.server, all));
            co_return;
        },
        std::ref(both), std::cref(text));
}
TEST(io_conservation, IO_17_no_byte_is_lost_by_deadlines_at_random) { on_each_host_run(&write_and_read_at_random); }

// A cancel from another thread, at any moment of a read that is in full swing.
task<> count_bytes(io::tcp_stream& from, std::size_t& count) {
    std::array<char, 64> data{};
    for (;;) {
        const std::size_t n = co_await from.read_some(data).or_throw();
        count += n;
        if (n == 0) {
            co_return;
        }
    }
}
task<> write_steadily(io::tcp_stream& to, std::size_t& count) {
    for (int i = 0; i < 400; ++i) {
        count += co_await to.write_all("0123456789").or_throw();
        if (i % 4 == 0) {
            co_await yield();
        }
    }
    to.close();
}
task<> cancel_readers() {
    tcp_pair both = connected();
    std::size_t written = 0;
    std::size_t read = 0;
    co_await with_scope(
        [](scope& s, tcp_pair& pair, std::size_t& in, std::size_t& out) -> task<> {
            s.launch("writer", write_steadily(pair.client, in));
            for (int i = 0; i < 100; ++i) {
                job reader = s.launch("reader", count_bytes(pair.server, out));
                co_await yield();
                reader.cancel();
                co_await reader.join();
            }
            co_await count_bytes(pair.server, out);
        },
        std::ref(both), std::ref(written), std::ref(read));
    EXPECT_EQ(read, written);
    EXPECT_EQ(written, 4000U);
}
TEST(io_conservation, IO_17_no_byte_is_lost_by_cancels) { on_each_host_run(&cancel_readers); }

using interrupted = std::promise<ext::interrupted_or<io::result<std::size_t>>>;

foreign read_until_stop(executor_ref, io::tcp_stream& from, io::mutable_buffer to, std::stop_token stop, interrupted& done) {
    auto got = co_await with_stop(from.read_exactly(to), stop);
    done.set_value(std::move(got));
}
// Stop at any moment: an operation that completes says what it moved, one that is interrupted has moved nothing.
TEST(io_conservation, IO_19_stop_loses_no_byte) {
    on_each_host([](host& where) {
        tcp_pair both = connected();
        std::thread peer([&both] {
            for (int i = 0; i < 300; ++i) {
                EXPECT_TRUE(both.client.write_all("0123456789").blocking(hang_limit));
            }
            both.client.close();
        });
        std::size_t total = 0;
        for (bool at_end = false; !at_end;) {
            std::string data(7, '-');
            std::stop_source stop;
            interrupted done;
            read_until_stop(where.where(), both.server, data, stop.get_token(), done);
            stop.request_stop();
            auto got = done.get_future().get();
            if (got) {
                total += got->transferred();
                at_end = got->code() == io::errc::end_of_stream;
            }
        }
        peer.join();
        EXPECT_EQ(total, 3000U);
    });
}

}  // namespace
