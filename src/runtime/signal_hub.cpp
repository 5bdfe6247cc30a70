#include <roost/runtime/detail/signal_hub.hpp>

#include <roost/base/error.hpp>
#include <roost/runtime/detail/signal_chain.hpp>

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
// fields   targets, listener, mask_wanted: under lock. The handler reads the atomics alone, which are never destroyed.
// I1       a handler that runs when nothing watches its number does what the handler before ours would have done
// I2       a handler counts before it rings, and the listener reads the rings before the counts: no signal is overlooked
//
// id  operation              order    pairs  carries                             fails in
// H1  users: any             seq_cst  H1     I1                                  (no model: handlers are the kernel's)
// H3  counts: any            seq_cst  H3     I2                                  (no model: handlers are the kernel's)
// H4  rings: any             seq_cst  H4     I2                                  (no model: handlers are the kernel's)
// H5  ending: any            seq_cst  H5     nothing but itself; H4 wakes        (no model: once per end of the thread)
// H6  mask_set: any          seq_cst  H6     the mask of the listener's thread   (no model: masks are the kernel's)

namespace roost::inline ROOST_ABI::detail {

namespace {

constinit atomic<std::uint32_t> hub_users[signal_limit];
constinit signal_chain hub_chains[signal_limit];
constinit atomic<std::uint32_t> hub_counts[signal_limit];
constinit atomic<std::uint32_t> hub_rings{0};

void wake_listener() noexcept {
    hub_rings.fetch_add(1, mo::seq_cst);  // H4
    wake_on(&hub_rings, INT_MAX);
}

void on_signal(int number, siginfo_t* info, void* context) {
    const int saved = errno;
    {
        const signal_depth here(signal_depth::kind::hub, number);
        const bool is_watched = hub_users[number].load(mo::seq_cst) > 0;  // H1
        if (is_watched && here.is_first()) {
            hub_counts[number].fetch_add(1, mo::seq_cst);  // H3
            wake_listener();
        }
        hub_chains[number].pass_on(here, on_signal, is_watched, number, info, context);
    }
    errno = saved;
}

void install(int number) noexcept {
    sigset_t none;
    ::sigemptyset(&none);
    hub_chains[number].install(number, on_signal, none);
}

void uninstall(int number) noexcept { hub_chains[number].uninstall(number, on_signal); }

class listener {
public:
    listener() : thread_([this] { run(); }) {}

    [[nodiscard]] bool is_here() const noexcept { return current() == this; }
    void request_end() noexcept {
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

    os_mutex lock;
    std::vector<std::shared_ptr<signal_target>> targets;
    std::unique_ptr<listener> now;
    std::uint32_t mask_wanted = 0;  // changes with what is watched
    atomic<std::uint32_t> mask_set{0};  // the one that the listener has followed

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
        if (target->numbers_.has(n)) {
            hub_users[n].fetch_add(1, mo::seq_cst);  // H1
            install(n);  // also for a second target: others may have installed theirs over ours
        }
    }
    target->installed_ = true;
    hub.targets.push_back(std::move(target));
    ++hub.mask_wanted;
    wake_listener();  // the listener unblocks what it has to take
}

// First the listener's thread blocks again what nothing else watches, then that has its former effect. The other way round the
// thread would take a signal that all others block, and the program could die of it.
void signal_hub::release(signal_target& target) noexcept {
    hub_state& hub = hub_state::get();
    std::uint32_t wanted = 0;
    {
        const std::lock_guard hold(hub.lock);
        if (!std::exchange(target.installed_, false)) {
            return;
        }
        wanted = ++hub.mask_wanted;
        if (hub.now->is_here()) {
            set_mask();
            give_back(target);
            return;
        }
    }
    wake_listener();
    for (std::uint32_t seen = hub.mask_set.load(mo::seq_cst); static_cast<std::int32_t>(seen - wanted) < 0;  // H6
         seen = hub.mask_set.load(mo::seq_cst)) {  // H6
        wait_on(hub.mask_set, seen);
    }
    const std::lock_guard hold(hub.lock);
    give_back(target);
}

void signal_hub::give_back(const signal_target& target) noexcept {
    for (int n = 1; n < signal_limit; ++n) {
        if (target.numbers_.has(n) && hub_users[n].fetch_sub(1, mo::seq_cst) == 1) {  // H1
            uninstall(n);
        }
    }
}

// On the listener's thread, with the lock: it takes what is watched and leaves everything else to the program's own threads.
void signal_hub::set_mask() noexcept {
    hub_state& hub = hub_state::get();
    sigset_t blocked;
    ::sigfillset(&blocked);
    for (const int broken : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) {
        ::sigdelset(&blocked, broken);
    }
    for (const std::shared_ptr<signal_target>& one : hub.targets) {
        for (int n = 1; n < signal_limit; ++n) {
            if (one->installed_ && one->numbers_.has(n)) {
                ::sigdelset(&blocked, n);
            }
        }
    }
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
    hub.mask_set.store(hub.mask_wanted, mo::seq_cst);  // H6
    wake_on(&hub.mask_set, INT_MAX);
}

void signal_hub::remove(signal_target& target) noexcept {
    hub_state& hub = hub_state::get();
    std::shared_ptr<signal_target> gone;
    std::unique_ptr<listener> last;
    release(target);
    {
        const std::lock_guard hold(hub.lock);
        const auto found = std::find_if(hub.targets.begin(), hub.targets.end(),
                                        [&](const std::shared_ptr<signal_target>& one) { return one.get() == &target; });
        if (found == hub.targets.end()) {
            return;  // in a forked child
        }
        gone = std::move(*found);
        hub.targets.erase(found);
        if (hub.targets.empty() && !hub.now->is_here()) {
            last = std::move(hub.now);
        }
    }
    if (last) {
        last->request_end();
        last->join();
    }
}

// Returns a signal that its target has not received, or 0. The listener's thread takes the signals that other threads
// block.
int signal_hub::next(std::shared_ptr<signal_target>& target) noexcept {
    hub_state& hub = hub_state::get();
    const std::lock_guard hold(hub.lock);
    if (hub.mask_set.load(mo::seq_cst) != hub.mask_wanted) {  // H6
        set_mask();
    }
    for (const std::shared_ptr<signal_target>& one : hub.targets) {
        for (int n = 1; n < signal_limit; ++n) {
            std::uint32_t& seen = one->seen_[static_cast<std::size_t>(n)];
            if (one->numbers_.has(n) && seen != hub_counts[n].load(mo::seq_cst)) {  // H3
                ++seen;
                target = one;
                return n;
            }
        }
    }
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
