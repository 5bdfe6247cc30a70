// How operations end early: deadlines, cancels and stop, on every kind of executor.

#include "support.hpp"

#include <roost/flow/race.hpp>
#include <roost/io/detail/operation.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/with_scope.hpp>

#include <fcntl.h>
#include <fstream>
#include <future>
#include <stop_token>
#include <vector>

using namespace roost;
using namespace io_tests;

namespace {

// --- a part ------------------------------------------------------------------------------------------------------------------

task<> deadline_after_a_part() {
    tcp_pair both = connected();
    co_await both.client.write_all("abc").or_throw();
    std::string data(8, '-');
    const auto part = co_await move_on_after(50ms, both.server.read_exactly(data));
    EXPECT_TRUE(part) << "the operation has completed, late";
    if (part) {
        EXPECT_EQ(part->code(), io::errc::cancelled);
        EXPECT_EQ(part->status(), wait_status::cancelled);
        EXPECT_EQ(part->transferred(), 3U);
        EXPECT_EQ(data, "abc-----");
    }
    expect_false(co_await move_on_after(5ms, both.server.read_exactly(data)), "without a part it ends as every wait");
    co_await both.client.write_all("defgh").or_throw();
    expect_equal(co_await both.server.read_exactly(io::mutable_buffer(data).after(3)).or_throw(), 5U);
    EXPECT_EQ(data, "abcdefgh") << "nothing was lost";
}
TEST(io_operation, IO_17_a_deadline_after_a_part_returns_the_part) { on_each_host_run(&deadline_after_a_part); }

task<> deadline_in_a_line() {
    tcp_pair both = connected();
    co_await both.client.write_all("half a li").or_throw();
    std::string data;
    const auto part = co_await move_on_after(50ms, both.server.read_until(data, "\n"));
    EXPECT_TRUE(part && part->code() == io::errc::cancelled);
    EXPECT_EQ(data, "half a li");
    co_await both.client.write_all("ne\n").or_throw();
    expect_equal(co_await both.server.read_until(data, "\n").or_throw(), 12U);
    EXPECT_EQ(data, "half a line\n");
}
TEST(io_operation, IO_17_a_deadline_in_the_middle_of_a_line) { on_each_host_run(&deadline_in_a_line); }

task<> deadline_while_writing() {
    tcp_pair both = connected_narrow();
    const std::string text = pattern(10'000'000);
    const auto sent = co_await move_on_after(50ms, both.client.write_all(text));
    EXPECT_TRUE(sent && sent->code() == io::errc::cancelled);
    const std::size_t part = sent ? sent->transferred() : 0;
    EXPECT_GT(part, 0U);
    EXPECT_LT(part, text.size());
    const auto gathered = co_await move_on_after(5ms, both.client.write_all(text, text));
    EXPECT_FALSE(gathered) << "there was no room";
    both.client.close();
    std::string got(part, '\0');
    co_await both.server.read_exactly(got).or_throw();
    EXPECT_TRUE(got == text.substr(0, part)) << "what was counted is what was sent";
    expect_equal(co_await both.server.read_some(got).or_throw(), 0U);
}
TEST(io_operation, IO_17_a_deadline_while_writing) { on_each_host_run(&deadline_while_writing); }

task<> deadline_while_sending_a_file(int file, const std::string& text) {
    tcp_pair both = connected_narrow();
    const auto sent = co_await move_on_after(50ms, both.client.send_file(file, 0, text.size()));
    EXPECT_TRUE(sent && sent->code() == io::errc::cancelled);
    const std::size_t part = sent ? sent->transferred() : 0;
    EXPECT_GT(part, 0U);
    EXPECT_LT(part, text.size());
    both.client.close();
    std::string got(part, '\0');
    co_await both.server.read_exactly(got).or_throw();
    EXPECT_TRUE(got == text.substr(0, part));
    const std::size_t end = co_await both.server.read_some(got).or_throw();
    EXPECT_EQ(end, 0U);
}
TEST(io_operation, IO_17_a_deadline_while_sending_a_file) {
    const temporary_directory folder;
    const std::string text = pattern(10'000'000);
    std::ofstream(folder.file("data"), std::ios::binary) << text;
    const int file = ::open(folder.file("data").c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    on_each_host([&](host& where) { where.run(deadline_while_sending_a_file(file, text)); });
    ::close(file);
}

task<> read_and_say(io::tcp_stream& from, std::string& data, bool& resumed) {
    static_cast<void>(co_await from.read_exactly(data));
    resumed = true;
}
task<> cancel_the_job() {
    tcp_pair both = connected();
    co_await both.client.write_all("abc").or_throw();
    std::string data(8, '-');
    bool resumed = false;
    co_await with_scope(
        [](scope& s, io::tcp_stream& from, std::string& to, bool& went_on) -> task<> {
            job reading = s.launch("reader", read_and_say(from, to, went_on));
            co_await sleep_for(5ms);
            reading.cancel();
            co_await reading.join();
            EXPECT_EQ(reading.state(), job_state::cancelled);
        },
        std::ref(both.server), std::ref(data), std::ref(resumed));
    EXPECT_FALSE(resumed) << "its whole job was cancelled";
}
TEST(io_operation, IO_17_a_cancelled_job_does_not_go_on) { on_each_host_run(&cancel_the_job); }

task<> end_a_race() {
    tcp_pair both = connected();
    co_await both.client.write_all("abc").or_throw();
    std::string data(8, '-');
    bool resumed = false;
    static_cast<void>(co_await race(read_and_say(both.server, data, resumed), sleep_for(5ms)));
    EXPECT_FALSE(resumed);
}
TEST(io_operation, IO_17_the_loser_of_a_race_ends) { on_each_host_run(&end_a_race); }

// --- other coroutine types --------------------------------------------------------------------------------------------------

using answer = std::promise<io::result<std::size_t>>;

foreign read_foreign(executor_ref, io::tcp_stream& from, io::mutable_buffer to, answer& done) {
    auto got = co_await from.read_exactly(to);
    done.set_value(std::move(got));
}
TEST(io_operation, IO_19_a_coroutine_type_with_an_executor) {
    on_each_host([](host& where) {
        tcp_pair both = connected();
        std::string data(3, '-');
        answer done;
        read_foreign(where.where(), both.server, data, done);
        EXPECT_TRUE(both.client.write_all("abc").blocking(hang_limit));
        EXPECT_EQ(*done.get_future().get(), 3U);
        EXPECT_EQ(data, "abc");
    });
}

using interrupted = std::promise<ext::interrupted_or<io::result<std::size_t>>>;

foreign read_until_stop(executor_ref, io::tcp_stream& from, io::mutable_buffer to, std::stop_token stop, interrupted& done) {
    auto got = co_await with_stop(from.read_exactly(to), stop);
    done.set_value(std::move(got));
}
foreign read_until_deadline(executor_ref, io::tcp_stream& from, io::mutable_buffer to, time_point end, interrupted& done) {
    auto got = co_await with_deadline(from.read_exactly(to), end);
    done.set_value(std::move(got));
}
TEST(io_operation, IO_19_stop_ends_an_operation) {
    on_each_host([](host& where) {
        for (const bool has_part : {false, true}) {
            tcp_pair both = connected();
            if (has_part) {
                ASSERT_TRUE(both.client.write_all("abc").blocking(hang_limit));
            }
            std::string data(8, '-');
            std::stop_source stop;
            interrupted done;
            read_until_stop(where.where(), both.server, data, stop.get_token(), done);
            std::this_thread::sleep_for(2ms);
            stop.request_stop();
            auto got = done.get_future().get();
            if (has_part) {
                ASSERT_EQ(got.status(), wait_status::done);
                EXPECT_EQ(got->code(), io::errc::cancelled);
                EXPECT_EQ(got->transferred(), 3U);
            } else {
                EXPECT_EQ(got.status(), wait_status::cancelled);
            }
        }
    });
}
TEST(io_operation, IO_19_a_deadline_ends_an_operation) {
    on_each_host([](host& where) {
        for (const bool has_part : {false, true}) {
            tcp_pair both = connected();
            if (has_part) {
                ASSERT_TRUE(both.client.write_all("abc").blocking(hang_limit));
            }
            std::string data(8, '-');
            interrupted done;
            read_until_deadline(where.where(), both.server, data, roost::now() + 3ms, done);
            auto got = done.get_future().get();
            if (has_part) {
                ASSERT_EQ(got.status(), wait_status::done);
                EXPECT_EQ(got->code(), io::errc::cancelled);
                EXPECT_EQ(got->transferred(), 3U);
            } else {
                EXPECT_EQ(got.status(), wait_status::expired);
            }
        }
    });
}

// Each kind of operation, in vain, under a deadline.
foreign try_everything(executor_ref where, tcp_pair& narrow, io::tcp_listener& door, io::udp_socket& socket,
                       std::promise<std::vector<wait_status>>& done) {
    std::vector<wait_status> how;
    std::string text = pattern(1000);
    std::string line;
    const auto soon = [&where] { return where->timers()->now() + 2ms; };
    const auto read = co_await with_deadline(narrow.server.read_some(text), soon());
    how.push_back(read.status());
    const auto until = co_await with_deadline(narrow.server.read_until(line, "\n"), soon());
    how.push_back(until.status());
    const auto written = co_await with_deadline(narrow.client.write_some(text), soon());
    how.push_back(written.status());
    const auto gathered = co_await with_deadline(narrow.client.write_all(text, text), soon());
    how.push_back(gathered.status());
    const auto sent = co_await with_deadline(narrow.client.send_file(0, 0, 10), soon());
    how.push_back(sent.status());
    const auto accepted = co_await with_deadline(door.accept(), soon());
    how.push_back(accepted.status());
    const auto received = co_await with_deadline(socket.receive_from(text), soon());
    how.push_back(received.status());
    const auto datagram = co_await with_deadline(socket.receive(text), soon());
    how.push_back(datagram.status());
    done.set_value(std::move(how));
}
TEST(io_operation, IO_19_a_deadline_ends_each_kind_of_operation) {
    on_each_host([](host& where) {
        tcp_pair narrow = connected_narrow();
        static_cast<void>(narrow.client.write_all(pattern(10'000'000)).blocking(5ms));  // no room is left
        auto door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
        auto socket = io::udp_socket::bind(io::endpoint::loopback(0)).value();
        // What was written is taken out of the way of the reads.
        tcp_pair quiet = connected();
        std::swap(narrow.server, quiet.server);
        std::promise<std::vector<wait_status>> done;
        try_everything(where.where(), narrow, door, socket, done);
        const auto how = done.get_future().get();
        EXPECT_EQ(how, std::vector<wait_status>(8, wait_status::expired));
    });
}

}  // namespace
