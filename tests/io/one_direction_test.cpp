// What a descriptor is registered for: reading alone, until it has to wait to write.

#include "support.hpp"

#include <roost/task/owned_scope.hpp>

#include <poll.h>

namespace {

using namespace roost;

// Two connected Unix sockets on a loop whose driver the test can look into.
class one_direction : public testing::Test {
protected:
    one_direction() {
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends_), 0);
        mine_ = io::descriptor(ends_[0]);
    }
    ~one_direction() override {
        mine_.close();
        ::close(ends_[1]);
        root_.request_close();
        static_cast<void>(loop_.poll());
        loop_.close();
        loop_.run();
    }
    static task<> wait(io::descriptor::operation on) {
        const io::result<> how = co_await std::move(on);
        EXPECT_TRUE(how) << how.code().message();
    }
    job begin(io::descriptor::operation on) {
        job j = root_.launch("wait", wait(std::move(on)));
        static_cast<void>(loop_.poll());
        return j;
    }
    void end(const job& j) {
        for (const time_point limit = now() + io_tests::hang_limit; !j.is_finished() && now() < limit;) {
            static_cast<void>(loop_.poll());
        }
        EXPECT_TRUE(j.is_finished());
    }
    // Returns true if the kernel has an event for the driver.
    [[nodiscard]] bool has_event() const {
        pollfd events{driver_.native_handle(), POLLIN, 0};
        return ::poll(&events, 1, 0) > 0;
    }
    void peer_reads() const {
        std::array<char, 4096> bytes{};
        while (::read(ends_[1], bytes.data(), bytes.size()) > 0) {}
    }

    io::epoll_driver driver_;
    loop loop_{"loop", &driver_};
    owned_scope root_{loop_, "root"};
    int ends_[2] = {-1, -1};
    io::descriptor mine_;
};

TEST_F(one_direction, IO_88_reading_alone_has_no_events_of_writing) {
    const job reads = begin(mine_.readable());
    while (driver_.poll()) {}  // what the kernel reported at first
    ASSERT_EQ(::write(mine_.native_handle(), "request", 7), 7);
    peer_reads();
    EXPECT_FALSE(has_event()) << "there is space to write, for which no one waits";
    ASSERT_EQ(::write(ends_[1], "answer", 6), 6);
    end(reads);
}

TEST_F(one_direction, IO_88_a_wait_to_write_adds_its_direction_and_keeps_the_other) {
    const job reads = begin(mine_.readable());
    const std::array<char, 4096> bytes{};
    while (::write(mine_.native_handle(), bytes.data(), bytes.size()) > 0) {}
    const job writes = begin(mine_.writable());
    ASSERT_FALSE(writes.is_finished());
    peer_reads();
    end(writes);
    EXPECT_FALSE(reads.is_finished());
    ASSERT_EQ(::write(ends_[1], "answer", 6), 6);
    end(reads);
}

// Another executor's wait to read must not take away the events that a writer waits for.
TEST_F(one_direction, IO_88_a_wait_on_another_executor_keeps_both_directions) {
    const std::array<char, 4096> bytes{};
    while (::write(mine_.native_handle(), bytes.data(), bytes.size()) > 0) {}
    const job writes = begin(mine_.writable());
    loop other("other");
    {
        owned_scope there(other, "there");
        const job reads = there.launch("read", wait(mine_.readable()));
        static_cast<void>(other.poll());
        peer_reads();
        for (const time_point limit = now() + io_tests::hang_limit; !writes.is_finished() && now() < limit;) {
            static_cast<void>(other.poll());
            static_cast<void>(loop_.poll());
        }
        EXPECT_TRUE(writes.is_finished());
        ASSERT_EQ(::write(ends_[1], "answer", 6), 6);
        while (!reads.is_finished()) {
            static_cast<void>(other.poll());
        }
        there.request_close();
        static_cast<void>(other.poll());
    }
    other.close();
    other.run();
}

}  // namespace
