#include <roost/observe/detail/descriptor_sink.hpp>

#include <roost/observe/recorder.hpp>

#include "recorded_jobs.hpp"

#if !defined(ROOST_TEST_ALONE)  // ::shutdown of <sys/socket.h> hides roost's from other tests
#include <sys/socket.h>
#include <sys/stat.h>
#endif

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace roost;
using namespace roost::observe;
using namespace testing_support;

namespace {

class recorder_files : public ::testing::Test {
protected:
    void SetUp() override {
        recorder::start(recorder_options().records(1 << 14));
        run_jobs(2000);
    }
    void TearDown() override { recorder::stop(); }
};

// Reads until the other end is closed.
std::string read_all(int fd) {
    std::string out;
    char bytes[4096];
    for (ssize_t n = 0; (n = ::read(fd, bytes, sizeof bytes)) > 0;) {
        out.append(bytes, static_cast<std::size_t>(n));
    }
    return out;
}

TEST_F(recorder_files, OBS_186_writes_a_file_that_can_be_read) {
    const std::string path = temporary_path("recording");
    const recording_written done = recorder::write_file(path.c_str());
    EXPECT_EQ(done.error(), std::error_code());
    const std::string bytes = bytes_of(path);
    EXPECT_EQ(done.bytes(), bytes.size());
    const recording r = read_recording(bytes);
    EXPECT_EQ(r.problem(), "");
    EXPECT_EQ(r.events().size(), done.records());
    EXPECT_EQ(r.lost(), done.lost());
    EXPECT_EQ(r.process(), static_cast<std::uint32_t>(::getpid()));
    EXPECT_GT(count_of(r, recorded_kind::job_created), 100U);
    struct stat what{};
    ::stat(path.c_str(), &what);
    EXPECT_EQ(what.st_mode & 0777U, 0600U);
    ::unlink(path.c_str());
}

TEST_F(recorder_files, OBS_187_errors_are_returned) {
    EXPECT_EQ(recorder::write_file("/nonexistent/recording").error().value(), ENOENT);
    EXPECT_EQ(recorder::write_to(-1).error().value(), EBADF);
    EXPECT_EQ(recorder::write_to(987654).error().value(), EBADF);
    const int read_only = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(recorder::write_to(read_only).error().value(), EBADF);
    ::close(read_only);
    const recording_written full = recorder::write_file("/dev/full");
    EXPECT_EQ(full.error().value(), ENOSPC);
    EXPECT_GT(full.lost(), 1000U) << "what a full disk did not take is counted";
    EXPECT_GT(recorder::snapshot().events().size(), 1000U) << "and is still in memory";
}

TEST_F(recorder_files, OBS_187_a_reader_that_stops_does_not_block_the_program) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const auto start = std::chrono::steady_clock::now();
    const recording_written stuck = recorder::write_to(ends[1], std::chrono::milliseconds(100));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
    EXPECT_EQ(stuck.error().value(), ETIMEDOUT);
    EXPECT_GT(stuck.lost(), 0U);
    EXPECT_EQ(::fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0) << "the descriptor's flags are the caller's";
    ::close(ends[1]);
    const std::string bytes = read_all(ends[0]);
    EXPECT_EQ(bytes.size(), stuck.bytes());
    EXPECT_NE(read_recording(bytes).problem(), "");
    ::close(ends[0]);
}

TEST_F(recorder_files, OBS_187_a_reader_that_is_gone_raises_no_signal) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    EXPECT_EQ(recorder::write_to(ends[1]).error().value(), EPIPE);
    ::close(ends[1]);
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ::close(ends[0]);
    EXPECT_EQ(recorder::write_to(ends[1]).error().value(), EPIPE);
    ::close(ends[1]);
}

TEST_F(recorder_files, OBS_187_a_slow_reader_gets_everything) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    std::string bytes;
    std::thread reader([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        bytes = read_all(ends[0]);
    });
    const recording_written done = recorder::write_to(ends[1], std::chrono::seconds(60));
    ::close(ends[1]);
    reader.join();
    ::close(ends[0]);
    EXPECT_EQ(done.error(), std::error_code());
    EXPECT_EQ(read_recording(bytes).problem(), "");
}

TEST_F(recorder_files, OBS_188_the_prepared_file_is_written_once) {
    const std::string path = temporary_path("prepared");
    recorder::prepare_file(path.c_str());
    EXPECT_EQ(bytes_of(path), "");
    EXPECT_EQ(recorder::write_prepared().error(), std::error_code());
    const recording r = read_recording(bytes_of(path));
    EXPECT_EQ(r.problem(), "");
    EXPECT_GT(r.events().size(), 1000U);
    EXPECT_EQ(recorder::write_prepared().error(), std::errc::operation_not_permitted);
    EXPECT_THROW(recorder::prepare_file("/nonexistent/recording"), std::system_error);
    ::unlink(path.c_str());
}

TEST_F(recorder_files, OBS_188_a_prepared_file_that_was_written_is_closed_by_the_next) {
    const std::string path = temporary_path("prepared_again");
    const auto next_descriptor = [] {
        const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        ::close(fd);
        return fd;
    };
    recorder::prepare_file(path.c_str());
    const int before = next_descriptor();
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(recorder::write_prepared().error(), std::error_code());
        recorder::prepare_file(path.c_str());
    }
    EXPECT_LE(next_descriptor(), before + 1);
    ::unlink(path.c_str());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have handlers of their own

// Runs `crash` in another process, which writes the recording. Returns how it ended.
template <class Crash>
int status_of_crash(const std::string& path, Crash crash) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGSEGV, SIG_DFL);
        recorder::prepare_file(path.c_str());
        recorder::write_on_crash();
        crash();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

TEST_F(recorder_files, OBS_189_a_crash_writes_the_prepared_file) {
    const std::string path = temporary_path("crash");
    const int aborted = status_of_crash(path, [] { std::abort(); });
    EXPECT_TRUE(WIFSIGNALED(aborted) && WTERMSIG(aborted) == SIGABRT) << aborted;
    recording r = read_recording(bytes_of(path));
    EXPECT_EQ(r.problem(), "");
    EXPECT_GT(count_of(r, recorded_kind::job_created), 100U);
    const int faulted = status_of_crash(path, [] {
        volatile int* volatile nowhere = nullptr;
        *nowhere = 1;
    });
    EXPECT_TRUE(WIFSIGNALED(faulted) && WTERMSIG(faulted) == SIGSEGV) << faulted;
    r = read_recording(bytes_of(path));
    EXPECT_EQ(r.problem(), "");
    EXPECT_GT(count_of(r, recorded_kind::job_created), 100U);
    ::unlink(path.c_str());
}

// The file is a pipe that is full until this process reads, so the second crash meets a file that is being written.
TEST_F(recorder_files, OBS_189_a_second_crash_waits_for_the_file_of_the_first) {
    const std::string path = temporary_path("crash_pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const int from = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    std::string bytes;
    std::thread reader([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        ::fcntl(from, F_SETFL, 0);
        bytes = read_all(from);
    });
    const int faulted = status_of_crash(path, [] {
        std::thread([] { std::abort(); }).detach();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        volatile int* volatile nowhere = nullptr;
        *nowhere = 1;
    });
    reader.join();
    ::close(from);
    EXPECT_TRUE(WIFSIGNALED(faulted)) << faulted;
    EXPECT_GT(bytes.size(), 100'000U);
    EXPECT_EQ(read_recording(bytes).problem(), "");
    ::unlink(path.c_str());
}

#endif

}  // namespace
