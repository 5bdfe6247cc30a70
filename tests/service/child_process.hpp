#pragma once

// A service in a process of its own: this test program again, running one of the scenarios. What it logs comes through a pipe.

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace roost::service {

// Nothing takes this long unless it hangs.
inline constexpr std::chrono::seconds hang_limit(120);

class child_process {
public:
    enum class place { here, process_1 };  // the latter: in a container of processes of its own, as the first one there
    using variables = std::vector<std::pair<std::string, std::string>>;

    explicit child_process(const std::string& scenario, const variables& environment = {}, place where = place::here) {
        int ends[2];
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        pid_ = where == place::here ? ::fork() : fork_as_process_1();
        if (pid_ == 0) {
            become(scenario, environment, ends[1]);
        }
        ::close(ends[1]);
        fd_ = ends[0];
    }
    ~child_process() {
        if (pid_ > 0 && !ended_) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, &status_, 0);
        }
        ::close(fd_);
    }
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    // False: this system does not let us make a process 1.
    [[nodiscard]] bool has_started() const noexcept { return pid_ > 0; }
    void send(int signal) const { EXPECT_EQ(::kill(pid_, signal), 0); }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] const std::string& output() const noexcept { return output_; }

    // Reads on until text has come after what was waited for before. False: it ended without, or it hangs.
    bool wait_for(const std::string& text) {
        for (;;) {
            const std::size_t found = output_.find(text, seen_);
            if (found != std::string::npos) {
                seen_ = found + text.size();
                return true;
            }
            if (!read_more()) {
                ADD_FAILURE() << "'" << text << "' never came; what came:\n" << output_;
                return false;
            }
        }
    }
    // Sends these again and again until it has ended: the kernel folds together what comes too fast.
    void storm(const std::vector<int>& signals) {
        do {
            for (int i = 0; i < 50; ++i) {
                ::kill(pid_, signals[static_cast<std::size_t>(i) % signals.size()]);
            }
        } while (read_more());
    }
    // Waits for its end; the status of waitpid.
    int wait() {
        while (read_more()) {}
        if (hung_) {
            ADD_FAILURE() << "it hangs; what came:\n" << output_;
            ::kill(pid_, SIGKILL);
        }
        ::waitpid(pid_, &status_, 0);
        ended_ = true;
        return status_;
    }
    [[nodiscard]] bool has_said(const std::string& text) const { return output_.find(text) != std::string::npos; }
    // The last line that came.
    [[nodiscard]] std::string last_line() const {
        const std::size_t end = output_.find_last_not_of('\n');
        const std::size_t before = output_.find_last_of('\n', end);
        return output_.substr(before + 1, end - before);
    }

private:
    // Like fork; what it returns here is the number by which we know the child, which is 1 for itself.
    [[nodiscard]] static pid_t fork_as_process_1() {
        const unsigned long flags = CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD;
        return static_cast<pid_t>(::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr));
    }
    [[noreturn]] static void become(const std::string& scenario, const variables& environment, int out) {
        for (const int n : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGPIPE}) {
            ::signal(n, SIG_DFL);  // whatever this program was started with
        }
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive a test that is killed
        const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        ::dup2(nowhere, STDOUT_FILENO);
        ::dup2(out, STDERR_FILENO);
        ::setenv("ROOST_SCENARIO", scenario.c_str(), 1);
        for (const auto& [name, value] : environment) {
            ::setenv(name.c_str(), value.c_str(), 1);
        }
        ::execl("/proc/self/exe", "scenario", "--gtest_filter=scenario.DISABLED_run", "--gtest_also_run_disabled_tests",
                "--gtest_brief=1", static_cast<char*>(nullptr));
        ::_exit(99);
    }
    bool read_more() {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(hangs_from_ - std::chrono::steady_clock::now());
        pollfd p{fd_, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&p, 1, static_cast<int>(left.count())) <= 0) {
            hung_ = true;
            return false;
        }
        char buffer[4096];
        const ssize_t n = ::read(fd_, buffer, sizeof buffer);
        if (n <= 0) {
            return false;
        }
        output_.append(buffer, static_cast<std::size_t>(n));
        return true;
    }

    pid_t pid_ = -1;
    int fd_ = -1;
    int status_ = 0;
    std::chrono::steady_clock::time_point hangs_from_ = std::chrono::steady_clock::now() + hang_limit;
    bool ended_ = false;
    bool hung_ = false;
    std::size_t seen_ = 0;
    std::string output_;
};

[[nodiscard]] inline bool ended_with(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
[[nodiscard]] inline bool died_of(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

}  // namespace roost::service
