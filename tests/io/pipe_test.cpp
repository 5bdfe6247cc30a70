#include "support.hpp"

#include <roost/io/pipe.hpp>
#include <roost/task/with_scope.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <csignal>
#include <fstream>

using namespace roost;
using namespace io_tests;

namespace {

task<> write_and_close(io::pipe_stream& to, const std::string& text) {
    co_await to.write_all(text).or_throw();
    to.close();
}
task<> move_much() {
    auto [reading, writing] = io::make_pipe().value();
    const std::string text = pattern(1'000'000);
    co_await with_scope(
        [](scope& s, io::pipe_stream& from, io::pipe_stream& to, const std::string& expected) -> task<> {
            s.launch("writer", write_and_close(to, expected));
            std::string got;
            std::array<char, 5000> data{};
            for (;;) {
                const std::size_t n = co_await from.read_some(data).or_throw();
                if (n == 0) {
                    break;
                }
                got.append(data.data(), n);
            }
            EXPECT_TRUE(got == expected);
        },
        std::ref(reading), std::ref(writing), std::cref(text));
}
TEST(io_pipe, IO_49_bytes_arrive_in_order_until_the_end) { on_each_host_run(&move_much); }

volatile std::sig_atomic_t pipe_signals = 0;

task<> write_without_reader() {
    auto [reading, writing] = io::make_pipe().value();
    reading.close();
    const auto sent = co_await writing.write_some("x");
    EXPECT_EQ(sent.code(), std::errc::broken_pipe);
    const auto gathered = co_await writing.write_all("x", "y");
    EXPECT_EQ(gathered.code(), std::errc::broken_pipe);
}
TEST(io_pipe, IO_49_a_pipe_without_reader_raises_no_signal) {
    pipe_signals = 0;
    struct sigaction counts{};
    counts.sa_handler = +[](int) { pipe_signals = pipe_signals + 1; };
    struct sigaction before{};
    ASSERT_EQ(::sigaction(SIGPIPE, &counts, &before), 0);
    on_each_host_run(&write_without_reader);
    EXPECT_EQ(pipe_signals, 0);
    // A program that has blocked the signal finds none pending.
    sigset_t pipe{};
    sigset_t mask{};
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    auto ends = io::make_pipe().value();
    ends.reading.close();
    EXPECT_EQ(ends.writing.write_some("x").blocking(hang_limit).code(), std::errc::broken_pipe);
    ::sigprocmask(SIG_SETMASK, nullptr, &mask);
    EXPECT_EQ(::sigismember(&mask, SIGPIPE), 0) << "the mask is as before";
    EXPECT_EQ(pipe_signals, 0);
    ::sigaction(SIGPIPE, &before, nullptr);
}

task<> use_the_wrong_end() {
    auto [reading, writing] = io::make_pipe().value();
    std::array<char, 4> data{};
    expect_equal((co_await reading.write_some("x")).code(), std::errc::bad_file_descriptor);
    expect_equal((co_await writing.read_some(data)).code(), std::errc::bad_file_descriptor);
    EXPECT_FALSE(writing.shutdown_write());
}
TEST(io_pipe, IO_49_the_wrong_end_is_an_error) { on_each_host_run(&use_the_wrong_end); }

task<> wait_for_room() {
    auto [reading, writing] = io::make_pipe().value();
    const std::string text = pattern(200'000);
    const auto part = co_await move_on_after(50ms, writing.write_all(text));
    std::size_t sent = 0;
    EXPECT_TRUE(part) << "a part was written, so the operation completes";
    if (part) {
        EXPECT_EQ(part->code(), io::errc::cancelled);
        sent = part->transferred();
        EXPECT_LT(sent, text.size());
    }
    writing.close();
    std::string got(sent, '\0');
    co_await reading.read_exactly(got).or_throw();
    EXPECT_TRUE(got == text.substr(0, sent));
    expect_equal(co_await reading.read_some(got).or_throw(), 0U);
}
TEST(io_pipe, IO_17_a_cut_write_says_how_much_was_written) { on_each_host_run(&wait_for_room); }

// --- a pipe of another owner -------------------------------------------------------------------------------------------------

task<> read_all(io::pipe_stream& from, std::string& got) {
    std::array<char, 64> data{};
    for (;;) {
        const std::size_t n = co_await from.read_some(data).or_throw();
        if (n == 0) {
            break;
        }
        got.append(data.data(), n);
    }
}
TEST(io_pipe, IO_50_the_output_of_a_child_process) {
    on_each_host([](host& where) {
        int ends[2] = {-1, -1};
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            ::dup2(ends[1], 1);
            ::execl("/bin/echo", "echo", "from a child", nullptr);
            ::_exit(1);
        }
        ::close(ends[1]);
        io::pipe_stream from(ends[0]);
        std::string got;
        where.run(read_all(from, got));
        EXPECT_EQ(got, "from a child\n");
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    });
}

TEST(io_pipe, IO_50_what_is_no_pipe_is_refused_and_closed) {
    const temporary_directory folder;
    std::ofstream(folder.file("data")) << "text";
    const int file = ::open(folder.file("data").c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_THROW(io::pipe_stream(static_cast<int>(file)), std::system_error);
    EXPECT_EQ(::fcntl(file, F_GETFD), -1);
    EXPECT_THROW(io::pipe_stream(-1), std::system_error);
}

TEST(io_pipe, IO_49_no_descriptors_is_an_error) {
    const int before = open_descriptors();
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    rlimit low = limit;
    low.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &low);
    const auto made = io::make_pipe();
    ::setrlimit(RLIMIT_NOFILE, &limit);
    EXPECT_EQ(made.code(), std::errc::too_many_files_open);
    EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
