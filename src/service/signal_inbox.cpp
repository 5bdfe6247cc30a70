#include <roost/service/detail/signal_inbox.hpp>

#include <roost/base/atomic.hpp>
#include <roost/service/detail/wake_fd.hpp>
#include <roost/service/phase.hpp>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

// Handlers instead of blocked signals: a blocked mask is inherited by every program that a worker starts, which would then
// ignore its own SIGTERM; and threads that were there before run() would not have the mask.
//
// fields   old: written before the handlers are installed, read by whoever takes them out; both by the thread that calls
//          remember_signals() and run(), one service at a time
//
// id  operation               order    pairs  carries                                                    fails in
// A1  handler: counters       release  A2     the sender                                                 (kept: a handler is rare)
// A2  read: counters          acquire  A1     as A1                                                      (kept)
// A3  handler: inside, fds    seq_cst  A4     I1                                                         (kept: a handler is rare)
// A4  listen: fds, inside     seq_cst  A3     I1                                                         (kept: twice per run)
// A5  installed: exchange     acq_rel  A5     old                                                        (kept: once per process)
//
// I1  a handler is inside before it reads a descriptor, and whoever takes that away then waits until nobody is inside: no
//     handler rings a descriptor that has been closed, or that is somebody else's by now

namespace roost::inline ROOST_ABI::service {

namespace detail {

namespace {

constexpr int numbers[handled_count] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};

class inbox {
public:
    atomic<std::uint32_t> count[handled_count];
    atomic<std::uint32_t> taken[handled_count];  // numbers given to handlers, which may run on several threads at once
    atomic<std::uint64_t> sender[handled_count][senders_kept];
    atomic<int> inside{0};
    atomic<int> fds[2] = {atomic<int>(-1), atomic<int>(-1)};
    atomic<bool> installed{false};
    struct sigaction old[handled_count] = {};
    bool left_alone[handled_count] = {};
};

constinit inbox box;

std::uint64_t packed(std::uint32_t number, int sender) noexcept {
    return (std::uint64_t{number} + 1) << 32U | static_cast<std::uint32_t>(sender);
}

void on_signal(int number, siginfo_t* info, void* /*context*/) {
    box.inside.fetch_add(1, mo::seq_cst);  // A3
    for (std::size_t i = 0; i < handled_count; ++i) {
        if (numbers[i] == number) {
            const bool has_sender =
                info != nullptr && (info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL);
            const std::uint32_t mine = box.taken[i].fetch_add(1, mo::relaxed);  // A1
            box.sender[i][mine % senders_kept].store(packed(mine, has_sender ? static_cast<int>(info->si_pid) : 0),
                                                     mo::relaxed);  // A1
            box.count[i].fetch_add(1, mo::release);  // A1
        }
    }
    for (atomic<int>& fd : box.fds) {
        if (const int to = fd.load(mo::seq_cst); to >= 0) {  // A3
            wake_fd::ring(to);
        }
    }
    box.inside.fetch_sub(1, mo::seq_cst);  // A3
}

void put_back() noexcept {
    for (std::size_t i = 0; i < handled_count; ++i) {
        if (!box.left_alone[i]) {
            ::sigaction(numbers[i], &box.old[i], nullptr);
        }
    }
}

// A child that goes on without exec has nobody who would look: signals have their usual effect in it.
void in_forked_child() {
    box.inside.store(0, mo::seq_cst);  // A3
    if (box.installed.load(mo::acquire)) {  // A5
        put_back();
        box.installed.store(false, mo::release);  // A5
    }
}

}  // namespace

int number_of(handled h) noexcept { return numbers[static_cast<std::size_t>(h)]; }

std::string signal_name(int number) {
    switch (number) {
        case SIGTERM: return "SIGTERM";
        case SIGINT: return "SIGINT";
        case SIGHUP: return "SIGHUP";
        case SIGUSR1: return "SIGUSR1";
        default: return "signal " + std::to_string(number);
    }
}

signal_counts signal_inbox::read() noexcept {
    signal_counts c;
    for (std::size_t i = 0; i < handled_count; ++i) {
        c.count_[i] = box.count[i].load(mo::acquire);  // A2
        for (std::size_t k = 0; k < senders_kept; ++k) {
            c.sender_[i][k] = box.sender[i][k].load(mo::relaxed);  // A2
        }
    }
    return c;
}

int signal_counts::sender_of(handled h, std::uint32_t number) const noexcept {
    const std::uint64_t found = sender_[static_cast<std::size_t>(h)][number % senders_kept];
    return (found >> 32U) == std::uint64_t{number} + 1 ? static_cast<int>(static_cast<std::uint32_t>(found))
                                                       : unknown_sender;
}

void signal_inbox::listen(int first_fd, int second_fd) noexcept {
    box.fds[0].store(first_fd, mo::seq_cst);  // A4
    box.fds[1].store(second_fd, mo::seq_cst);  // A4
    while (first_fd < 0 && box.inside.load(mo::seq_cst) != 0) {  // A4
        ::sched_yield();
    }
    for (const atomic<std::uint32_t>& n : box.count) {
        if (first_fd >= 0 && n.load(mo::acquire) != 0) {  // A2
            wake_fd::ring(first_fd);
        }
    }
}

void signal_inbox::clear() noexcept {
    for (std::size_t i = 0; i < handled_count; ++i) {
        box.count[i].store(0, mo::release);  // A1
        box.taken[i].store(0, mo::relaxed);  // A1
        for (atomic<std::uint64_t>& one : box.sender[i]) {
            one.store(0, mo::relaxed);  // A1
        }
    }
}

void die_of(int signal) noexcept {
    if (signal == 0) {
        ::_exit(exit_code::work_cancelled);
    }
    struct sigaction usual{};
    usual.sa_handler = SIG_DFL;
    ::sigaction(signal, &usual, nullptr);
    sigset_t mine;
    ::sigemptyset(&mine);
    ::sigaddset(&mine, signal);
    ::sigprocmask(SIG_UNBLOCK, &mine, nullptr);
    ::raise(signal);
    // Process 1 of a container does not die of its own signals.
    ::_exit(exit_code::signal_base + signal);
}

no_broken_pipes::no_broken_pipes() noexcept {
    struct sigaction now{};
    if (::sigaction(SIGPIPE, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL) {
        now.sa_handler = SIG_IGN;
        changed_ = ::sigaction(SIGPIPE, &now, nullptr) == 0;
    }
}

no_broken_pipes::~no_broken_pipes() {
    if (changed_) {
        struct sigaction usual{};
        usual.sa_handler = SIG_DFL;
        ::sigaction(SIGPIPE, &usual, nullptr);
    }
}

}  // namespace detail

void remember_signals() noexcept {
    using namespace detail;
    if (box.installed.exchange(true, mo::acq_rel)) {  // A5
        return;
    }
    static const int forks_watched = ::pthread_atfork(nullptr, nullptr, in_forked_child);
    static_cast<void>(forks_watched);
    struct sigaction mine{};
    mine.sa_sigaction = on_signal;
    mine.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    ::sigemptyset(&mine.sa_mask);
    for (const int n : numbers) {
        ::sigaddset(&mine.sa_mask, n);
    }
    for (std::size_t i = 0; i < handled_count; ++i) {
        ::sigaction(numbers[i], nullptr, &box.old[i]);
        // nohup, and the background jobs of a shell: who started us does not want these to end us.
        const bool ignored = (box.old[i].sa_flags & SA_SIGINFO) == 0 && box.old[i].sa_handler == SIG_IGN;
        box.left_alone[i] = ignored && (numbers[i] == SIGINT || numbers[i] == SIGHUP);
        if (!box.left_alone[i]) {
            ::sigaction(numbers[i], &mine, nullptr);
        }
    }
    sigset_t all = mine.sa_mask;
    ::sigprocmask(SIG_UNBLOCK, &all, nullptr);
}

void forget_signals() noexcept {
    using namespace detail;
    if (box.installed.load(mo::acquire)) {  // A5
        put_back();
        signal_inbox::listen(-1, -1);
        signal_inbox::clear();
        box.installed.store(false, mo::release);  // A5
    }
}

}  // namespace roost::inline ROOST_ABI::service
