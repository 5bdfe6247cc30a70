// Scenario 20, the log's part: a service and signals where nothing can be said, or where the process has no descriptors left. Every
// service runs in a child of its own, which forks while this process has one thread.

#include "quiet.hpp"

#include <gtest/gtest.h>

#if defined(ROOST_TEST_SERVICE)

#include <roost/runtime/run_until_signal.hpp>
#include <roost/service/service.hpp>
#include <roost/task/sleep.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace roost;
using namespace std::chrono_literals;
using gauntlet::load;
using gauntlet::quiet;
using steady = std::chrono::steady_clock;

constexpr auto total = 200ms;
constexpr auto hang = 60s;

class child {
public:
    template <class Body>
    explicit child(Body body) : pid_(::fork()) {
        if (pid_ == 0) {
            ::alarm(static_cast<unsigned>(hang.count()));
            ::_exit(body());
        }
    }
    void send(int number) const { ::kill(pid_, number); }
    [[nodiscard]] int wait() const {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        return status;
    }
    [[nodiscard]] bool has_ended(int& status) const { return ::waitpid(pid_, &status, WNOHANG) == pid_; }

private:
    pid_t pid_;
};

bool died_of(int status, int number) { return WIFSIGNALED(status) && WTERMSIG(status) == number; }
bool exited(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

// --- sinks that never return -----------------------------------------------------------------------------------------------

void fill_stderr() {
    int ends[2];
    if (::pipe(ends) != 0) {
        ::_exit(99);
    }
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const char junk[4096] = {};
    while (::write(ends[1], junk, sizeof junk) > 0) {}
    ::fcntl(ends[1], F_SETFL, 0);
    ::dup2(ends[1], STDERR_FILENO);
}

std::mutex held;
int lines_left = 0;
void stuck_after_some(const service::log_line&, void*) noexcept {
    if (lines_left-- == 0) {
        const std::lock_guard<std::mutex> for_ever(held);
    }
}

task<> chatters(service::host& h) {
    for (;;) {
        for (int i = 0; i < 100; ++i) {
            h.log("a line of a service that says much");
        }
        co_await sleep_for(1ms);
    }
}
task<> serve(service::host& h) {
    h.add("chatter").launch("chatters", chatters(h));
    h.set_ready();
    co_await h.stopping();
}

// lines < 0: the standard error stream is full from the start; else the sink gets stuck in that line.
int mute(int lines, int remembers) {
    service::remember_signals();
    if (::write(remembers, "r", 1) != 1) {
        return 99;
    }
    auto o = service::options().total(total).log_buffer(1 << 16).runtime(runtime_options().workers(2).soft_budget(1ms));
    if (lines < 0) {
        fill_stderr();
        o.total(hang).budget(service::phase::drain, total / 2);  // its end is a clean one, however busy the machine is
    } else {
        held.lock();
        lines_left = lines;
        o.sink(stuck_after_some);
    }
    return service::run(serve, o);
}

TEST(gauntlet_log, GAUNTLET_20_SVC_11_a_signal_at_any_moment_while_the_log_is_blocked) {
    const quiet q("scenario 20, blocked logs");
    const long rounds = load(100, 2);
    constexpr int together = 8;
    std::mt19937 random(static_cast<unsigned>(::getpid()));
    double longest = 0;
    for (long i = 0; i < rounds; ++i) {
        int remembers[2];
        ASSERT_EQ(::pipe(remembers), 0);
        std::vector<child> children;
        for (int k = 0; k < together; ++k) {
            const int lines = k % 2 == 0 ? -1 : static_cast<int>(random() % 5);
            children.emplace_back([lines, &remembers] { return mute(lines, remembers[1]); });
        }
        char one = 0;
        for (int k = 0; k < together; ++k) {
            ASSERT_EQ(::read(remembers[0], &one, 1), 1);
        }
        ::close(remembers[0]);
        ::close(remembers[1]);
        ::usleep(static_cast<useconds_t>(random() % 50'000));
        const auto asked = steady::now();
        for (const child& c : children) {
            c.send(SIGTERM);
        }
        for (std::size_t k = 0; k < children.size(); ++k) {
            const int status = children[k].wait();
            ASSERT_TRUE(k % 2 == 0 ? exited(status, service::exit_code::work_cancelled) : died_of(status, SIGTERM))
                << "one SIGTERM has to end a service whose log is blocked, not " << status;
        }
        longest = std::max(longest, std::chrono::duration<double>(steady::now() - asked).count());
    }
    q.say("%ld services with blocked logs, each ended by one SIGTERM; deadline 0.2 s and 2 s for last words, longest %.1f s",
          rounds * together, longest);
}

TEST(gauntlet_log, GAUNTLET_20_SVC_9_a_storm_of_signals_while_the_log_is_blocked) {
    const quiet q("scenario 20, storms");
    const long runs = load(20, 2);
    long sent = 0;
    for (long i = 0; i < runs; ++i) {
        int remembers[2];
        ASSERT_EQ(::pipe(remembers), 0);
        const child c([i, &remembers] { return mute(i % 2 == 0 ? -1 : 0, remembers[1]); });
        char one = 0;
        ASSERT_EQ(::read(remembers[0], &one, 1), 1);
        ::close(remembers[0]);
        ::close(remembers[1]);
        int status = 0;
        while (!c.has_ended(status)) {
            for (int k = 0; k < 50; ++k, ++sent) {
                c.send(k % 2 == 0 ? SIGTERM : SIGINT);
            }
        }
        ASSERT_TRUE(died_of(status, SIGTERM) || died_of(status, SIGINT) || exited(status, 128 + SIGTERM) ||
                    exited(status, 128 + SIGINT) || exited(status, service::exit_code::work_cancelled))
            << status;
    }
    q.say("%ld services with blocked logs, %ld signals, each ended by one of them", runs, sent);
}

// --- a full disk -----------------------------------------------------------------------------------------------------------

TEST(gauntlet_log, GAUNTLET_20_SVC_80_a_full_disk_below_the_log_changes_nothing) {
    const quiet q("scenario 20, full disk");
    const long runs = load(100, 4);
    for (long i = 0; i < runs; ++i) {
        const child c([] {
            const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
            ::dup2(full, STDERR_FILENO);
            return service::run(
                [](service::host& h) -> task<> {
                    auto order = h.ledger().accept();
                    for (int line = 0; line < 1000; ++line) {
                        h.log("a line for which there is no room");
                    }
                    order.complete();
                    h.set_ready();
                    ::raise(SIGTERM);
                    co_await h.stopping();
                },
                service::options().total(20s));
        });
        ASSERT_TRUE(exited(c.wait(), 0));
    }
    q.say("%ld services with 1000 lines for a full disk, each exits with 0", runs);
}

// --- no descriptors --------------------------------------------------------------------------------------------------------

// The lowest `free` descriptors that are not open, and none besides.
void leave_descriptors(int free) {
    std::vector<int> taken;
    for (int fd = ::open("/dev/null", O_RDONLY); fd >= 0; fd = ::open("/dev/null", O_RDONLY)) {
        taken.push_back(fd);
    }
    for (; free > 0; --free) {
        ::close(taken.back());
        taken.pop_back();
    }
}

int last_line_size = 0;
int without_descriptors(int free) {
    const rlimit few{64, 64};
    ::setrlimit(RLIMIT_NOFILE, &few);
    leave_descriptors(free);
    const int code = service::run(
        [](service::host& h) -> task<> {
            h.set_ready();
            ::raise(SIGTERM);
            co_await h.stopping();
        },
        service::options().total(20s).sink(
            [](const service::log_line& line, void*) noexcept { last_line_size = static_cast<int>(line.text().size()); }));
    struct sigaction now{};
    ::sigaction(SIGTERM, nullptr, &now);
    if (now.sa_handler != SIG_DFL || last_line_size == 0) {
        return 98;  // a refusal gives the handlers back, and says why
    }
    // What needs no descriptor works without.
    const int number = run_until_signal([]() -> task<> {
        ::raise(SIGINT);
        co_await sleep_for(hang);
    }());
    return number == 128 + SIGINT ? code : 97;
}

TEST(gauntlet_log, GAUNTLET_20_SVC_30_a_service_without_descriptors_is_refused_and_plain_signals_need_none) {
    if (gauntlet::sanitized) {
        GTEST_SKIP() << "a sanitizer opens descriptors itself, and reports an error when it cannot";
    }
    const quiet q("scenario 20, no descriptors");
    int refused = 0;
    int ran = 0;
    for (int free = 0; free <= 8; ++free) {
        const child c([free] { return without_descriptors(free); });
        const int status = c.wait();
        ASSERT_TRUE(exited(status, 0) || exited(status, service::exit_code::bad_options)) << free << ": " << status;
        (exited(status, 0) ? ran : refused) += 1;
    }
    EXPECT_GT(refused, 0);
    EXPECT_GT(ran, 0);
    q.say("with 0 to 8 descriptors left: %d services refused with one sentence, %d ran; every signal was heard", refused,
          ran);
}

}  // namespace

#endif
