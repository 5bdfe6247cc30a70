#include <roost/runtime/detail/signal_chain.hpp>

#include <algorithm>

// Why it is not simpler: the depth is kept per thread and read by a handler, which may run before the thread has touched any
// thread-local. One whose place is fixed when the thread begins is the only kind that a handler may read.
//
// fields   under_way, unwanted_to: by its own thread and by handlers on it, each of which leaves it as it was
//
// id  operation             order    pairs  carries                                    fails in
// S1  former: any           seq_cst  S1     the action that a handler calls            (no model: handlers are the kernel's)
// S2  places_: any          seq_cst  S2     which of the two actions there are         (no model: handlers are the kernel's)

namespace roost::inline ROOST_ABI::detail {

namespace {

struct levels {
    volatile std::uint64_t first = 0;  // a bit for each signal
    volatile std::uint64_t second = 0;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local levels under_way[2];
// The handler that one of ours calls after none before it wanted the signal; 0: none.
[[gnu::tls_model("initial-exec")]] constinit thread_local volatile std::uintptr_t unwanted_to = 0;

levels& levels_of(signal_depth::kind whose) noexcept { return under_way[static_cast<std::size_t>(whose)]; }

}  // namespace

signal_depth::signal_depth(kind whose, int number) noexcept
    : bit_(std::uint64_t{1} << static_cast<unsigned>(number - 1)), whose_(whose), before_(0) {
    levels& mine = levels_of(whose_);
    if ((mine.first & bit_) == 0) {
        mine.first = mine.first | bit_;
    } else if ((mine.second & bit_) == 0) {
        before_ = 1;
        mine.second = mine.second | bit_;
    } else {
        before_ = 2;
    }
}

signal_depth::~signal_depth() {
    levels& mine = levels_of(whose_);
    if (is_first()) {
        mine.first = mine.first & ~bit_;
    } else if (is_second()) {
        mine.second = mine.second & ~bit_;
    }
}

void former_action::set(const struct sigaction& a) noexcept {
    takes_info_.store((a.sa_flags & SA_SIGINFO) != 0, mo::seq_cst);  // S1
    function_.store((a.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<std::uintptr_t>(a.sa_sigaction)
                                                   : reinterpret_cast<std::uintptr_t>(a.sa_handler),
                    mo::seq_cst);  // S1
}

std::uintptr_t former_action::address() const noexcept { return function_.load(mo::seq_cst); }  // S1
bool former_action::is_default() const noexcept { return address() == reinterpret_cast<std::uintptr_t>(SIG_DFL); }

void former_action::call(int number, siginfo_t* info, void* context) const noexcept {
    const std::uintptr_t f = address();
    if (f == reinterpret_cast<std::uintptr_t>(SIG_DFL) || f == reinterpret_cast<std::uintptr_t>(SIG_IGN)) {
        return;
    }
    if (takes_info_.load(mo::seq_cst)) {  // S1
        reinterpret_cast<void (*)(int, siginfo_t*, void*)>(f)(number, info, context);
    } else {
        reinterpret_cast<void (*)(int)>(f)(number);
    }
}

void signal_chain::install(int number, function mine, const sigset_t& mask) noexcept {
    struct sigaction before{};
    ::sigaction(number, nullptr, &before);
    if (is_mine(before, mine)) {
        return;
    }
    const std::uint32_t places = places_.load(mo::seq_cst);  // S2
    if (places == 0) {
        lowest_whole_ = before;
        lowest_.set(before);
    }
    latest_whole_ = before;
    latest_.set(before);
    places_.store(std::min(places + 1, 2U), mo::seq_cst);  // S2
    struct sigaction ours{};
    ours.sa_sigaction = mine;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    ours.sa_mask = mask;
    ::sigaction(number, &ours, nullptr);
}

void signal_chain::uninstall(int number, function mine) noexcept {
    struct sigaction present{};
    ::sigaction(number, nullptr, &present);
    if (!is_mine(present, mine)) {
        return;
    }
    ::sigaction(number, &latest_whole_, nullptr);
    if (places_.load(mo::seq_cst) == 2) {  // S2
        latest_whole_ = lowest_whole_;
        latest_.set(lowest_whole_);
        places_.store(1, mo::seq_cst);  // S2
    } else {
        places_.store(0, mo::seq_cst);  // S2
    }
}

// The default ends the process: only if no handler above ours took the signal. One of others that calls ours has taken it.
bool signal_chain::is_unwanted(const signal_depth& here, int number, function mine) noexcept {
    struct sigaction present{};
    return here.is_first() && (unwanted_to == reinterpret_cast<std::uintptr_t>(mine) ||
                               (::sigaction(number, nullptr, &present) == 0 && is_mine(present, mine)));
}

void signal_chain::pass_on(const signal_depth& here, function mine, bool is_watched, int number, siginfo_t* info,
                           void* context) const noexcept {
    if (!here.is_first() && (!here.is_second() || places_.load(mo::seq_cst) < 2)) {  // S2
        return;
    }
    const former_action& below = here.is_first() ? latest_ : lowest_;
    const bool unwanted = !is_watched && is_unwanted(here, number, mine);
    if (unwanted && below.is_default()) {
        struct sigaction usual{};
        usual.sa_handler = SIG_DFL;
        ::sigaction(number, &usual, nullptr);
        ::raise(number);  // has its effect when the handlers have returned
        return;
    }
    const std::uintptr_t outer = unwanted_to;
    unwanted_to = unwanted ? below.address() : 0;
    below.call(number, info, context);
    unwanted_to = outer;
}

}  // namespace roost::inline ROOST_ABI::detail
