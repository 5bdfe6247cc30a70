#include <roost/service/detail/signal_inbox.hpp>

#include <roost/base/atomic.hpp>
#include <roost/runtime/detail/signal_chain.hpp>
#include <roost/service/detail/signal_box.hpp>
#include <roost/service/detail/wake_fd.hpp>
#include <roost/service/phase.hpp>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

// Handlers instead of blocked signals: every program that a worker starts would inherit a blocked mask and ignore its own
// SIGTERM. And threads that exist before run() would not have the mask.
//
// fields   left_alone: written before the handlers are installed, read when they are taken out; both by the thread that calls
//          remember_signals() and run(), one service at a time
//
// id  operation               order    pairs  carries                                                    fails in
// B1  installed: any          seq_cst  B1     left_alone                                                 (once per process)

namespace roost::inline ROOST_ABI::service {

using namespace seam;

namespace detail {

namespace {

constexpr int numbers[handled_count] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};

class inbox {
public:
    signal_box signals;
    atomic<bool> installed{false};
    roost::detail::signal_chain chains[handled_count];
    bool left_alone[handled_count] = {};
};

constinit inbox box;

// Also when no service runs any more: others may have installed theirs over ours, and may put ours back later.
void on_signal(int number, siginfo_t* info, void* context) {
    using roost::detail::signal_depth;
    for (std::size_t i = 0; i < handled_count; ++i) {
        if (numbers[i] == number) {
            const signal_depth here(signal_depth::kind::service, number);
            const bool is_watched = box.installed.load(mo::seq_cst);  // B1
            if (is_watched && here.is_first()) {
                const bool has_sender =
                    info != nullptr && (info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL);
                box.signals.arrived(i, has_sender ? static_cast<int>(info->si_pid) : 0,
                                    [](int fd) noexcept { wake_fd::ring(fd); });
            }
            box.chains[i].pass_on(here, on_signal, is_watched, number, info, context);
        }
    }
}

void put_back() noexcept {
    for (std::size_t i = 0; i < handled_count; ++i) {
        if (!box.left_alone[i]) {
            box.chains[i].uninstall(numbers[i], on_signal);
        }
    }
}

// A child that continues without exec has no conductor: signals have their usual effect in it.
void in_forked_child() {
    box.signals.forget_handlers();
    if (box.installed.load(mo::seq_cst)) {  // B1
        put_back();
        box.installed.store(false, mo::seq_cst);  // B1
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

signal_counts signal_inbox::read() noexcept { return box.signals.read(); }

int signal_counts::sender_of(handled h, std::uint32_t number) const noexcept {
    const std::uint64_t found = sender_[static_cast<std::size_t>(h)][number % senders_kept];
    return (found >> 32U) == std::uint64_t{number} + 1 ? static_cast<int>(static_cast<std::uint32_t>(found))
                                                       : unknown_sender;
}

void signal_inbox::listen(int first_fd, int second_fd) noexcept {
    if (box.signals.listen(first_fd, second_fd, [] { ::sched_yield(); })) {
        wake_fd::ring(first_fd);
    }
}

void signal_inbox::clear() noexcept { box.signals.clear(); }

void die_of(int signal, int otherwise) noexcept {
    if (signal == 0) {
        ::_exit(otherwise);
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
    if (box.installed.exchange(true, mo::seq_cst)) {  // B1
        return;
    }
    static const int forks_watched = ::pthread_atfork(nullptr, nullptr, in_forked_child);
    static_cast<void>(forks_watched);
    sigset_t all;
    ::sigemptyset(&all);
    for (const int n : numbers) {
        ::sigaddset(&all, n);
    }
    for (std::size_t i = 0; i < handled_count; ++i) {
        struct sigaction before{};
        ::sigaction(numbers[i], nullptr, &before);
        // nohup, and the background jobs of a shell: the parent does not want these signals to end the process.
        const bool ignored = (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN;
        box.left_alone[i] = ignored && (numbers[i] == SIGINT || numbers[i] == SIGHUP);
        if (!box.left_alone[i]) {
            box.chains[i].install(numbers[i], on_signal, all);
        }
    }
    ::sigprocmask(SIG_UNBLOCK, &all, nullptr);
}

void forget_signals() noexcept {
    using namespace detail;
    if (box.installed.load(mo::seq_cst)) {  // B1
        box.installed.store(false, mo::seq_cst);  // B1
        put_back();
        signal_inbox::listen(-1, -1);
        signal_inbox::clear();
    }
}

}  // namespace roost::inline ROOST_ABI::service
