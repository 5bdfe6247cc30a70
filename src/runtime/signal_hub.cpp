#include <roost/runtime/detail/signal_hub.hpp>

#include <roost/base/error.hpp>

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <mutex>
#include <utility>
#include <vector>

// Why it is not simpler: a handler runs on any thread at any instruction, so it can take no lock and wake no waiter; a
// thread does that. Handlers belong to the process: other code may have installed its own before, or may install one over
// this.
//
// fields   targets, listener, old: under lock. The handler reads the atomics alone, which are never destroyed.
// I1       a handler that runs while its number is not watched does what the former handler would have done
// I2       a handler counts before it rings, and the listener reads the rings before the counts: no signal is missed
//
// id  operation              order    pairs  carries                             fails in
// H1  users: any             seq_cst  H1     I1                                  (no model: handlers are the kernel's)
// H2  previous: any          seq_cst  H2     I1                                  (no model: handlers are the kernel's)
// H3  counts: any            seq_cst  H3     I2                                  (no model: handlers are the kernel's)
// H4  rings: any             seq_cst  H4     I2                                  (no model: handlers are the kernel's)
// H5  ending: any            seq_cst  H5     nothing but itself; H4 wakes        (no model: once per end of the thread)

namespace roost::inline ROOST_ABI::detail {

namespace {

// The former action, in a form that a handler can read: the function, and whether it takes three arguments.
class former_action {
public:
    void set(const struct sigaction& a) noexcept {
        takes_info_.store((a.sa_flags & SA_SIGINFO) != 0, mo::seq_cst);  // H2
        function_.store((a.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<std::uintptr_t>(a.sa_sigaction)
                                                       : reinterpret_cast<std::uintptr_t>(a.sa_handler),
                        mo::seq_cst);  // H2
    }
    [[nodiscard]] bool is_default() const noexcept {
        return function_.load(mo::seq_cst) == reinterpret_cast<std::uintptr_t>(SIG_DFL);  // H2
    }
    // Does nothing if the former action was SIG_DFL or SIG_IGN.
    void call(int number, siginfo_t* info, void* context) const noexcept {
        const std::uintptr_t f = function_.load(mo::seq_cst);  // H2
        if (f == reinterpret_cast<std::uintptr_t>(SIG_DFL) || f == reinterpret_cast<std::uintptr_t>(SIG_IGN)) {
            return;
        }
        if (takes_info_.load(mo::seq_cst)) {  // H2
            reinterpret_cast<void (*)(int, siginfo_t*, void*)>(f)(number, info, context);
        } else {
            reinterpret_cast<void (*)(int)>(f)(number);
        }
    }

private:
    atomic<std::uintptr_t> function_{0};
    atomic<bool> takes_info_{false};
};

constinit atomic<std::uint32_t> hub_users[signal_limit];
constinit former_action hub_former[signal_limit];
constinit atomic<std::uint32_t> hub_counts[signal_limit];
constinit atomic<std::uint32_t> hub_rings{0};

void wake_listener() noexcept {
    hub_rings.fetch_add(1, mo::seq_cst);  // H4
    wake_on(&hub_rings, INT_MAX);
}

void on_signal(int number, siginfo_t* info, void* context) {
    const int saved = errno;
    if (hub_users[number].load(mo::seq_cst) > 0) {  // H1
        hub_counts[number].fetch_add(1, mo::seq_cst);  // H3
        wake_listener();
    } else if (hub_former[number].is_default()) {
        struct sigaction usual{};
        usual.sa_handler = SIG_DFL;
        ::sigaction(number, &usual, nullptr);
        ::raise(number);  // takes effect when this handler returns
    }
    hub_former[number].call(number, info, context);
    errno = saved;
}

bool is_ours(const struct sigaction& a) noexcept { return (a.sa_flags & SA_SIGINFO) != 0 && a.sa_sigaction == on_signal; }

class listener {
public:
    listener() : thread_([this] { run(); }) {}

    [[nodiscard]] bool is_here() const noexcept { return current() == this; }
    void tell_to_end() noexcept {
        ending_.store(true, mo::seq_cst);  // H5
        wake_listener();
    }
    void join() { thread_.join(); }

private:
    static const listener*& current() noexcept {
        struct tag;
        return thread_value<tag, const listener*>::get();
    }
    void run() noexcept;

    atomic<bool> ending_{false};
    thread thread_;
};

class hub_state {
public:
    // Never destroyed: handlers and destructors of other static objects may run later.
    static hub_state& get() {
        static hub_state& one = *new hub_state;
        return one;
    }

    void install(int number) noexcept;
    void uninstall(int number) noexcept;

    os_mutex lock;
    std::vector<std::shared_ptr<signal_target>> targets;
    std::unique_ptr<listener> now;
    struct sigaction old[signal_limit] = {};

private:
    hub_state() {
        ::pthread_atfork([] { get().lock.lock(); }, [] { get().lock.unlock(); }, [] { get().in_forked_child(); });
    }
    // A child that continues without exec has no listener: signals have their former effect in it.
    void in_forked_child() noexcept {
        for (int n = 1; n < signal_limit; ++n) {
            if (hub_users[n].exchange(0, mo::seq_cst) > 0) {  // H1
                uninstall(n);
            }
        }
        for (const std::shared_ptr<signal_target>& one : targets) {
            signal_hub::forget(*one);
        }
        targets.clear();
        static_cast<void>(now.release());  // its thread does not exist in this process
        lock.unlock();
    }
};

void hub_state::install(int number) noexcept {
    struct sigaction before{};
    ::sigaction(number, nullptr, &before);
    if (is_ours(before)) {
        return;  // restored by other code that had saved it
    }
    old[number] = before;
    hub_former[number].set(before);
    struct sigaction mine{};
    mine.sa_sigaction = on_signal;
    mine.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    ::sigemptyset(&mine.sa_mask);
    ::sigaction(number, &mine, nullptr);
}

// A handler that was installed over ours stays. If it restores ours later, ours does what the former one did.
void hub_state::uninstall(int number) noexcept {
    struct sigaction present{};
    ::sigaction(number, nullptr, &present);
    if (is_ours(present)) {
        ::sigaction(number, &old[number], nullptr);
    }
}

}  // namespace

// --- the numbers -----------------------------------------------------------------------------------------------------------

void signal_numbers::add(int n) {
    switch (n) {
        case SIGKILL:
        case SIGSTOP: throw error(errc::refused, signal_name_of(n) + " cannot be caught");
        case SIGSEGV:
        case SIGBUS:
        case SIGFPE:
        case SIGILL:
        case SIGTRAP:
        case SIGABRT: throw error(errc::refused, signal_name_of(n) + " is a fault of the program and cannot be waited for");
        default: break;
    }
    if (n <= 0 || n >= signal_limit || (n > SIGSYS && n < SIGRTMIN)) {
        throw error(errc::refused, std::to_string(n) + " is not a signal that a program can wait for");
    }
    bits_ |= bit_of(n);
}

signal_numbers signal_numbers::without_ignored() const noexcept {
    signal_numbers left;
    for (int n = 1; n < signal_limit; ++n) {
        struct sigaction a{};
        if (has(n) && ::sigaction(n, nullptr, &a) == 0 && ((a.sa_flags & SA_SIGINFO) != 0 || a.sa_handler != SIG_IGN)) {
            left.bits_ |= bit_of(n);
        }
    }
    return left;
}

std::string signal_name_of(int number) {
    switch (number) {
        case SIGTERM: return "SIGTERM";
        case SIGINT: return "SIGINT";
        case SIGHUP: return "SIGHUP";
        case SIGQUIT: return "SIGQUIT";
        case SIGUSR1: return "SIGUSR1";
        case SIGUSR2: return "SIGUSR2";
        case SIGKILL: return "SIGKILL";
        case SIGSTOP: return "SIGSTOP";
        case SIGSEGV: return "SIGSEGV";
        case SIGBUS: return "SIGBUS";
        case SIGFPE: return "SIGFPE";
        case SIGILL: return "SIGILL";
        case SIGABRT: return "SIGABRT";
        default: return "signal " + std::to_string(number);
    }
}

// --- the hub ---------------------------------------------------------------------------------------------------------------

void signal_hub::add(std::shared_ptr<signal_target> target) {
    hub_state& hub = hub_state::get();
    const std::lock_guard hold(hub.lock);
    hub.targets.reserve(hub.targets.size() + 1);  // what can fail comes first
    if (!hub.now) {
        hub.now = std::make_unique<listener>();
    }
    for (int n = 1; n < signal_limit; ++n) {
        target->seen_[static_cast<std::size_t>(n)] = hub_counts[n].load(mo::seq_cst);  // H3
        if (target->numbers_.has(n) && hub_users[n].fetch_add(1, mo::seq_cst) == 0) {  // H1
            hub.install(n);
        }
    }
    target->installed_ = true;
    hub.targets.push_back(std::move(target));
    wake_listener();  // the listener unblocks the new numbers for its thread
}

void signal_hub::release_locked(signal_target& target) noexcept {
    if (!std::exchange(target.installed_, false)) {
        return;
    }
    for (int n = 1; n < signal_limit; ++n) {
        if (target.numbers_.has(n) && hub_users[n].fetch_sub(1, mo::seq_cst) == 1) {  // H1
            hub_state::get().uninstall(n);
        }
    }
}

void signal_hub::release(signal_target& target) noexcept {
    const std::lock_guard hold(hub_state::get().lock);
    release_locked(target);
}

void signal_hub::remove(signal_target& target) noexcept {
    hub_state& hub = hub_state::get();
    std::shared_ptr<signal_target> gone;
    std::unique_ptr<listener> last;
    {
        const std::lock_guard hold(hub.lock);
        const auto found = std::find_if(hub.targets.begin(), hub.targets.end(),
                                        [&](const std::shared_ptr<signal_target>& one) { return one.get() == &target; });
        if (found == hub.targets.end()) {
            return;  // in a forked child
        }
        release_locked(target);
        gone = std::move(*found);
        hub.targets.erase(found);
        if (hub.targets.empty() && !hub.now->is_here()) {
            last = std::move(hub.now);
        }
    }
    if (last) {
        last->tell_to_end();
        last->join();
    }
}

// Returns a signal that its target has not received, or 0. The listener's thread takes the signals that other threads
// block.
int signal_hub::next(std::shared_ptr<signal_target>& target) noexcept {
    hub_state& hub = hub_state::get();
    const std::lock_guard hold(hub.lock);
    sigset_t watched;
    ::sigemptyset(&watched);
    for (const std::shared_ptr<signal_target>& one : hub.targets) {
        for (int n = 1; n < signal_limit; ++n) {
            if (!one->numbers_.has(n)) {
                continue;
            }
            ::sigaddset(&watched, n);
            std::uint32_t& seen = one->seen_[static_cast<std::size_t>(n)];
            if (seen != hub_counts[n].load(mo::seq_cst)) {  // H3
                ++seen;
                target = one;
                return n;
            }
        }
    }
    ::sigprocmask(SIG_UNBLOCK, &watched, nullptr);
    return 0;
}

namespace {

void listener::run() noexcept {
    current() = this;
    for (;;) {
        const std::uint32_t heard = hub_rings.load(mo::seq_cst);  // H4
        std::shared_ptr<signal_target> target;
        while (const int number = ending_.load(mo::seq_cst) ? 0 : signal_hub::next(target)) {  // H5
            target->arrived(number);
            target.reset();
        }
        if (ending_.load(mo::seq_cst)) {  // H5
            return;
        }
        wait_on(hub_rings, heard);
    }
}

}  // namespace

}  // namespace roost::inline ROOST_ABI::detail
