#include <roost/base/detail/write_stderr.hpp>

#include <roost/base/assert.hpp>
#include <roost/base/atomic.hpp>

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <string>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace roost;
using namespace roost::seam;
using namespace std::chrono_literals;

namespace {

// Standard error is the writing end of a pipe or socket for as long as this lives.
class other_stderr {
public:
    explicit other_stderr(bool is_socket = false) {
        EXPECT_EQ(is_socket ? ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()) : ::pipe(ends_.data()), 0);
        before_ = ::dup(2);
        ::dup2(ends_[1], 2);
    }
    other_stderr(const other_stderr&) = delete;
    other_stderr& operator=(const other_stderr&) = delete;
    ~other_stderr() {
        ::dup2(before_, 2);
        ::close(before_);
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    void fill() const {
        const int flags = ::fcntl(2, F_GETFL);
        ::fcntl(2, F_SETFL, flags | O_NONBLOCK);
        const std::string junk(4096, '.');
        while (::write(2, junk.data(), junk.size()) > 0) {}
        while (::write(2, ".", 1) > 0) {}
        ::fcntl(2, F_SETFL, flags);
    }
    [[nodiscard]] std::string read_all() const {
        ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
        std::string all;
        std::array<char, 4096> part{};
        for (ssize_t n = 0; (n = ::read(ends_[0], part.data(), part.size())) > 0;) {
            all.append(part.data(), static_cast<std::size_t>(n));
        }
        return all.substr(std::min(all.size(), all.find_first_not_of('.')));
    }
    void stop_reading() {
        ::close(ends_[0]);
        ends_[0] = ::open("/dev/null", O_RDONLY);
    }

private:
    std::array<int, 2> ends_{};
    int before_ = -1;
};

class write_stderr_to : public ::testing::TestWithParam<bool> {};

TEST_P(write_stderr_to, BASE_35_a_reader_gets_the_text) {
    const other_stderr to(GetParam());
    EXPECT_TRUE(detail::write_stderr("one\n"));
    EXPECT_TRUE(detail::write_stderr("two\n", 1s));
    EXPECT_EQ(to.read_all(), "one\ntwo\n");
}

TEST_P(write_stderr_to, BASE_35_without_room_it_is_dropped_counted_and_said_later) {
    const other_stderr to(GetParam());
    to.fill();
    const std::uint64_t before = detail::stderr_texts_dropped();
    EXPECT_FALSE(detail::write_stderr("lost\n", 5ms));
    EXPECT_FALSE(detail::write_stderr("lost\n", std::chrono::hours(1))) << "stuck already: no waiting";
    EXPECT_EQ(detail::stderr_texts_dropped(), before + 2);
    EXPECT_EQ(to.read_all(), "");
    EXPECT_TRUE(detail::write_stderr("again\n"));
    EXPECT_TRUE(detail::write_stderr("and again\n"));
    EXPECT_EQ(to.read_all(), "roost: standard error was blocked: 2 earlier message(s) dropped\nagain\nand again\n");
}

TEST_P(write_stderr_to, BASE_35_it_waits_for_room_within_its_limit) {
    const other_stderr to(GetParam());
    to.fill();
    std::string seen;
    thread reader([&] { seen = to.read_all(); });
    EXPECT_TRUE(detail::write_stderr("waited\n", std::chrono::hours(1)));
    reader.join();
    EXPECT_EQ(seen + to.read_all(), "waited\n");
}

INSTANTIATE_TEST_SUITE_P(either, write_stderr_to, ::testing::Values(false, true));

TEST(write_stderr, BASE_35_without_a_reader_it_is_dropped_and_nothing_is_signalled) {
    const std::uint64_t before = detail::stderr_texts_dropped();
    {
        other_stderr to;
        to.stop_reading();
        EXPECT_FALSE(detail::write_stderr("lost\n", std::chrono::hours(1)));
    }
    EXPECT_EQ(detail::stderr_texts_dropped(), before + 1);
    detail::write_stderr("");  // no longer stuck
}

TEST(write_stderr, BASE_35_a_long_text_arrives_in_parts_and_leaves_errno_alone) {
    const other_stderr to;
    const std::string text(500'000, 'x');
    std::string seen;
    atomic<bool> over{false};
    thread reader([&] {
        while (!over.load(mo::acquire)) {
            seen += to.read_all();
        }
    });
    errno = 7;
    EXPECT_TRUE(detail::write_stderr(text, std::chrono::hours(1)));
    EXPECT_EQ(errno, 7);
    over.store(true, mo::release);
    reader.join();
    EXPECT_EQ((seen + to.read_all()).size(), text.size());
}

TEST(write_stderr, BASE_36_a_panic_ends_the_program_when_nothing_reads) {
    const other_stderr to;
    to.fill();
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);
        detail::panic("the rule");
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

}  // namespace
