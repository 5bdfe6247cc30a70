// Order L1: service/detail/last_resort.hpp.

#include <roost/service/detail/last_resort.hpp>

#include <roost/observe/recorder.hpp>
#include <roost/service/detail/phase_state.hpp>
#include <roost/service/detail/signal_inbox.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::service::detail {

using namespace seam;

namespace {

// Returns the signal to die of, or 0 if no signal began shutdown.
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

// Returns how many signals have asked for the end.
std::uint32_t asked(const signal_counts& n, const host_core& core) noexcept {
    return core.options().signals() ? n.of(handled::term) + n.of(handled::interrupt) + (core.ends_by_hangup() ? 1U : 0U) : 0;
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
        const std::uint32_t signals = asked(n, core_);
        if (hard != no_deadline) {
            limit = std::min(limit, deadline_after(hard, last_words_budget));
        } else if (signals > 0) {  // the conductor is about to set it, or is blocked
            limit = std::min(limit, deadline_after(deadline_after(now(), core_.times().total()), last_words_budget));
        }
        if (signals >= 3) {
            limit = std::min(limit, deadline_after(now(), last_words_budget));
        }
        if (now() >= limit) {
            static_cast<void>(observe::recorder::write_prepared());  // fails at once if none is prepared
            die_of(signal_of(n, core_), forced_exit_code(core_.failure()));
        }
        bell_.sleep_until(limit);
    }
}

}  // namespace roost::inline ROOST_ABI::service::detail
