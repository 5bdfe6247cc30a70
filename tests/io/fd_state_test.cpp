// The memory behind descriptors, and thousands of connections on it.

#include "support.hpp"

#include <roost/io/detail/fd_state.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/with_scope.hpp>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <algorithm>
#include <set>

using namespace roost;
using namespace io_tests;
using io::detail::fd_kind;
using io::detail::fd_state;
using io::detail::pollable_owner;

namespace {

fd_state* made() { return fd_state::make(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), fd_kind::file); }

TEST(io_fd_state, IO_15_memory_is_used_again) {
    std::set<const fd_state*> first;
    for (int round = 0; round < 3; ++round) {
        std::vector<pollable_owner> all;
        std::size_t known = 0;
        for (int i = 0; i < 1000; ++i) {
            fd_state* s = made();
            all.emplace_back(s);
            known += first.contains(s) ? 1 : 0;
            if (round == 0) {
                first.insert(s);
            }
        }
        EXPECT_EQ(known, round == 0 ? 0U : 1000U) << "each one is of the first thousand";
    }
}

TEST(io_fd_state, IO_15_the_number_is_given_back_when_the_last_use_ends) {
    fd_state* const s = made();
    const int fd = s->native_handle();
    pollable_owner owner(s);
    ASSERT_TRUE(s->enter());
    ASSERT_TRUE(s->enter());
    EXPECT_TRUE(owner.is_open());
    owner.close();
    EXPECT_FALSE(owner.is_open());
    EXPECT_FALSE(s->enter());
    s->leave();
    EXPECT_NE(::fcntl(fd, F_GETFD), -1) << "an operation uses it";
    s->leave();
    EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
    owner.close();
    owner.reset();
}

TEST(io_fd_state, IO_15_a_dropped_handle_leaves_the_last_use_to_close) {
    fd_state* const s = made();
    const int fd = s->native_handle();
    pollable_owner owner(s);
    ASSERT_TRUE(s->enter());
    owner.reset();
    EXPECT_NE(::fcntl(fd, F_GETFD), -1);
    s->leave();
    EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

TEST(io_fd_state, IO_33_the_name_is_the_number_and_a_text) {
    fd_state* const s = made();
    const pollable_owner owner(s);
    const std::string number = "fd " + std::to_string(s->native_handle());
    EXPECT_EQ(s->name(), number);
    s->set_label("some text");
    EXPECT_EQ(s->name(), number + " (some text)");
    s->set_label(std::string(200, 'x').c_str());
    EXPECT_EQ(std::string(s->name()).size(), fd_state::name_size - 1);
}

TEST(io_fd_state, IO_15_closing_another_owners_number_is_left_to_it) {
    const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    { const pollable_owner owner(fd_state::make(fd, fd_kind::file, false)); }
    EXPECT_NE(::fcntl(fd, F_GETFD), -1);
    ::close(fd);
}

// --- many connections ------------------------------------------------------------------------------------------------------

// As many as the limit of descriptors allows, at most ten thousand.
std::size_t most_connections() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const auto used = static_cast<std::size_t>(open_descriptors()) + 50;
    const std::size_t room = limit.rlim_cur > used ? (limit.rlim_cur - used) / 2 : 0;
    return std::min<std::size_t>(10'000, room);
}

task<> answer_once(io::unix_stream peer) {
    std::array<char, 1> data{};
    co_await peer.read_exactly(data).or_throw();
    co_await peer.write_all(data).or_throw();
}
task<> accept_all(scope& s, io::unix_listener& door, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        s.launch("peer", answer_once(co_await door.accept().or_throw()));
    }
}
task<> connect_all(const io::endpoint& at, std::size_t count) {
    auto door = io::unix_listener::bind(at).value();
    std::vector<io::unix_stream> clients(count);
    co_await with_scope(
        [](scope& s, io::unix_listener& from, std::vector<io::unix_stream>& all) -> task<> {
            s.launch("accept", accept_all(s, from, all.size()));
            for (std::size_t i = 0; i < all.size();) {
                auto made_one = co_await io::unix_stream::connect(from.local());
                if (made_one) {
                    all[i++] = std::move(*made_one);
                } else {
                    EXPECT_EQ(made_one.code(), std::errc::resource_unavailable_try_again) << made_one.code().message();
                    co_await sleep_for(1ms);  // the backlog is full
                }
            }
            for (io::unix_stream& client : all) {
                std::array<char, 1> data{};
                expect_equal(co_await client.write_all("x").or_throw(), 1U);
                expect_equal(co_await client.read_exactly(data).or_throw(), 1U);
            }
        },
        std::ref(door), std::ref(clients));
}
TEST(io_fd_state, IO_15_ten_thousand_connections_three_times) {
    const temporary_directory folder;
    const io::endpoint at = io::endpoint::unix_path(folder.file("socket")).value();
    const std::size_t count = most_connections();
    const int before = open_descriptors();
    for (int round = 0; round < 3; ++round) {
        host where(2);
        where.run(connect_all(at, count));
    }
    EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
