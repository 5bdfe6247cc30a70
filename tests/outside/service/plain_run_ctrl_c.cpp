// Ctrl-C and SIGTERM for a plain run(): a one-liner that cancels the task, a second signal that kills, and signals to wait for beside other things.
#include <roost/roost.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

using namespace std::chrono_literals;

namespace {

int tell = 1;  // the parent's pipe
void say(char c) {
    if (::write(tell, &c, 1) != 1) ::_exit(9);
}

class file {  // something that has to be cleaned up
public:
    file() = default;
    file(const file&) = delete;
    file& operator=(const file&) = delete;
    ~file() { say('c'); }
};

roost::task<> serve() {
    const file temporary;
    say('r');
    co_await roost::sleep_for(1h);
}

bool is_default(int number) {
    struct sigaction now{};
    ::sigaction(number, nullptr, &now);
    return now.sa_handler == SIG_DFL;
}

// Does not end when it is cancelled. Says when the first signal has been taken.
roost::task<> stubborn() {
    const auto deaf = co_await roost::ignore_cancellation();
    say('r');
    while (!is_default(SIGINT)) co_await roost::sleep_for(1ms);
    say('d');
    co_await roost::sleep_for(1h);
}

// Reloads on SIGHUP, ends on SIGTERM.
roost::task<int> reloading() {
    roost::signal_watch signals(SIGHUP, SIGTERM);
    roost::channel<int> orders(1);
    say('r');
    for (;;) {
        auto got = co_await roost::select(orders.receive(), signals.receive(), roost::sleep_for(1h));
        if (got.index() != 1) co_return 5;
        auto number = std::move(got).get<1>();
        if (*number == SIGTERM) co_return 0;
        say('h');
    }
}

roost::task<int> raced() {
    auto signal = roost::signal_received(SIGINT, SIGTERM);  // from now on they are its
    say('r');
    auto first = co_await roost::race(
        []() -> roost::task<int> {
            co_await roost::sleep_for(1h);
            co_return 0;
        }(),
        std::move(signal));
    co_return first.index() == 1 ? first.value() : 6;
}

class program {
public:
    explicit program(int (*body)()) {
        int ends[2];
        if (::pipe(ends) != 0) ::_exit(9);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::close(ends[0]);
            tell = ends[1];
            ::_exit(body());
        }
        ::close(ends[1]);
        from_ = ends[0];
    }
    bool says(char wanted) const {
        char c = 0;
        return ::read(from_, &c, 1) == 1 && c == wanted;
    }
    void send(int number) const { ::kill(pid_, number); }
    int end() const {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        return status;
    }

private:
    pid_t pid_;
    int from_;
};

bool exits(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

const char* wrong() {
    for (const int n : {SIGINT, SIGTERM}) {
        const program p([] { return roost::run_until_signal(serve()); });
        if (!p.says('r')) return "it did not start";
        p.send(n);
        if (!p.says('c')) return "the cancelled task was not cleaned up";
        if (!exits(p.end(), 128 + n)) return "the exit code is not 128 + n";
    }
    {
        const program p([] { return roost::run_until_signal(stubborn()); });
        if (!p.says('r')) return "the stubborn one did not start";
        p.send(SIGINT);
        if (!p.says('d')) return "a first Ctrl-C did not leave the second its usual effect";
        p.send(SIGINT);
        const int status = p.end();
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGINT) return "a second Ctrl-C did not kill";
    }
    {
        const program p([] { return roost::run(reloading()); });
        if (!p.says('r')) return "the reloading one did not start";
        for (int i = 0; i < 3; ++i) {
            p.send(SIGHUP);
            if (!p.says('h')) return "a SIGHUP was not received";
        }
        p.send(SIGTERM);
        if (!exits(p.end(), 0)) return "the reloading one did not end with 0";
    }
    {
        const program p([] { return roost::run(raced()) == SIGINT && roost::run(raced()) == SIGTERM ? 0 : 7; });
        if (!p.says('r')) return "the race did not start";
        p.send(SIGINT);
        if (!p.says('r')) return "the second race did not start";
        p.send(SIGTERM);
        if (!exits(p.end(), 0)) return "two races in one process did not get their signals";
    }
    return nullptr;
}

}  // namespace

int main() {
    ::alarm(110);
    for (const int n : {SIGHUP, SIGINT, SIGTERM}) ::signal(n, SIG_DFL);  // nohup and background jobs ignore some
    const char* why = wrong();
    if (why != nullptr) std::printf("%s\n", why);
    return why == nullptr ? 0 : 1;
}
