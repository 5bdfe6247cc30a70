#include <roost/service/detail/last_resort.hpp>

#include <roost/service/detail/signal_inbox.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::service::detail {

namespace {

// How much longer than the third signal or the hard deadline the others may take for their last words.
constexpr duration patience = std::chrono::seconds(2);

// The signal to die of; 0 when none asked for the end.
int signal_of(const signal_counts& n, const host_core& core) noexcept {
    if (!core.options().signals()) {
        return 0;
    }
    if (n.of(handled::interrupt) > 0) {
        return number_of(handled::interrupt);
    }
    if (n.of(handled::term) > 0) {
        return number_of(handled::term);
    }
    return core.ends_by_hangup() ? number_of(handled::hangup) : 0;
}

bool has_third(const signal_counts& n, const host_core& core) noexcept {
    return core.options().signals() &&
           n.of(handled::term) + n.of(handled::interrupt) + (core.ends_by_hangup() ? 1U : 0U) >= 3;
}

}  // namespace

last_resort::last_resort(const host_core& core) : core_(core), thread_([this] { run(); }) {}

last_resort::~last_resort() {
    ending_.store(true, mo::seq_cst);  // L1
    bell_.ring();
    thread_.join();
}

void last_resort::run() const noexcept {
    time_point limit = no_deadline;
    while (!ending_.load(mo::seq_cst)) {  // L1
        const time_point hard = core_.hard_deadline();
        const signal_counts n = signal_inbox::read();
        limit = std::min(limit, hard == no_deadline ? no_deadline : deadline_after(hard, patience));
        if (has_third(n, core_)) {
            limit = std::min(limit, deadline_after(now(), patience));
        }
        if (now() >= limit) {
            die_of(signal_of(n, core_));
        }
        bell_.sleep_until(limit);
    }
}

}  // namespace roost::inline ROOST_ABI::service::detail
