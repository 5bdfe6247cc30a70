// A service whose log goes nowhere ends after ONE SIGTERM: as ever when stderr is a full pipe, at its hard deadline when the sink waits for a lock for ever.
#include <roost/service/service.hpp>
#include <roost/task/sleep.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>

using namespace std::chrono_literals;
namespace service = roost::service;

namespace {

constexpr auto total = 500ms;
constexpr auto last_words = 2s;

void burn(std::chrono::milliseconds d) {
    const auto end = std::chrono::steady_clock::now() + d;
    while (std::chrono::steady_clock::now() < end) {}
}

// Beats go on while the log is blocked: no timer and no worker waits for it.
roost::task<> beat(int out) {
    for (;;) {
        co_await roost::sleep_for(5ms);
        if (::write(out, ".", 1) != 1) co_return;
    }
}
roost::task<> overrun() {  // the watcher wants to say something about this
    burn(50ms);
    co_return;
}

roost::task<> serve(service::host& h, int out) {
    h.add("heart").launch("beat", beat(out));
    h.main().launch("overrun", overrun());
    for (int i = 0; i < 50'000; ++i) h.log("a line that nothing takes");
    h.set_ready();
    co_await h.stopping();
}

void fill_stderr() {
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(9);
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const char junk[4096] = {};
    while (::write(ends[1], junk, sizeof junk) > 0) {}
    ::fcntl(ends[1], F_SETFL, 0);
    ::dup2(ends[1], 2);
}

std::mutex held;
void stuck_in_a_lock(const service::log_line&, void*) noexcept { const std::lock_guard<std::mutex> for_ever(held); }

int child(bool by_lock, int out) {
    auto o =
        service::options().total(total).log_buffer(1 << 16).runtime(roost::runtime_options().workers(2).soft_budget(10ms));
    if (by_lock) {
        held.lock();
        o.sink(stuck_in_a_lock);
    } else {
        fill_stderr();
        o.total(20s).budget(service::phase::drain, total / 2);  // a clean end, however busy the machine is
    }
    return service::run([out](service::host& h) { return serve(h, out); }, o);
}

bool try_one(const char* what, bool by_lock) {
    int beats[2];
    if (::pipe(beats) != 0) return false;
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::close(beats[0]);
        ::_exit(child(by_lock, beats[1]));
    }
    ::close(beats[1]);
    char one = 0;
    for (int i = 0; i < 20; ++i) {  // it serves
        if (::read(beats[0], &one, 1) != 1) {
            std::printf("%s: the service ended before it was told to\n", what);
            return false;
        }
    }
    const auto start = std::chrono::steady_clock::now();
    ::kill(pid, SIGTERM);
    int status = 0;
    while (::waitpid(pid, &status, WNOHANG) == 0) {
        ::usleep(10'000);
        if (std::chrono::steady_clock::now() - start > total + last_words + 30s) {
            std::printf("%s: still alive %g s after one SIGTERM, its deadline was %g s\n", what,
                        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                        std::chrono::duration<double>(total).count());
            ::kill(pid, SIGKILL);
            ::waitpid(pid, &status, 0);
            return false;
        }
    }
    ::close(beats[0]);
    // The heart never stops by itself, so that the drain's deadline cancels it.
    const bool right = by_lock ? WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM
                               : WIFEXITED(status) && WEXITSTATUS(status) == service::exit_code::work_cancelled;
    if (!right) std::printf("%s: ended with status %x\n", what, static_cast<unsigned>(status));
    return right;
}

}  // namespace

int main() {
    ::alarm(110);
    const bool pipe = try_one("stderr is a full pipe", false);
    const bool lock = try_one("the sink is stuck in a lock", true);
    return pipe && lock ? 0 : 1;
}
