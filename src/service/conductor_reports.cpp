// What the conductor reports: outstanding work, the state for the service manager, last words.

#include <roost/service/detail/conductor.hpp>

#include <roost/observe/dump.hpp>
#include <roost/observe/recorder.hpp>
#include <roost/runtime/blocking_lane.hpp>
#include <roost/service/budgets.hpp>
#include <roost/service/detail/last_resort.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace roost::inline ROOST_ABI::service::detail {

using namespace observe;
using namespace ext;

namespace {

constexpr std::size_t most_groups = 20;      // of one report
constexpr std::size_t most_nodes = 10'000;   // of one tree
duration probe_period(duration live_within) noexcept {
    return std::clamp<duration>(live_within / 4, std::chrono::milliseconds(50), std::chrono::milliseconds(2500));
}

bool reports_in(phase p) noexcept { return p >= phase::stop_intake && p <= phase::exit; }

}  // namespace

void conductor::look_at_reports(time_point now) {
    if (!reports_in(state_.at)) {
        return;
    }
    if (now >= next_report_) {
        next_report_ = deadline_after(now, core_.options().report_every());
        say_holders(now);
    }
    wake_at(next_report_);
}

void conductor::say_holders(time_point now) {
    const shutdown_report r = core_.report();
    const std::uint64_t settled = core_.ledger().read().all_settled();
    const bool progress = r.total() < least_outstanding_ || settled > last_settled_;
    least_outstanding_ = std::min(least_outstanding_, r.total());
    last_settled_ = settled;
    const std::string left = format_duration(std::chrono::round<std::chrono::milliseconds>(
        std::max(duration(0), std::min(phase_deadline_, core_.hard_deadline()) - now)));
    core_.log(severity::warning, "roost: phase " + std::string(to_string(state_.at)) + " for another " + left +
                                     " at most, " + std::to_string(r.total()) + " outstanding" +
                                     (progress ? "" : ", no progress"));
    std::size_t said = 0;
    for (const report_entry& e : r) {
        if (said++ == most_groups) {
            core_.log(severity::warning,
                      "roost:   and " + std::to_string(r.entries().size() - most_groups) + " more groups");
            break;
        }
        core_.log(severity::warning, "roost:   " + e.to_string());
    }
    say_lane(severity::warning);
    std::string lines = "STATUS=" + core_.status(state_.at, r);
    if (progress) {
        const duration more = std::min<duration>(core_.options().report_every() * 2, core_.hard_deadline() - now);
        lines += "\nEXTEND_TIMEOUT_USEC=" +
                 std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(std::max(more, duration(0))).count());
    }
    manager_.send(lines);
}

// Logs what the threads for blocking work run: there may be no guard and no job for it.
void conductor::say_lane(severity how) {
    const auto* lane = dynamic_cast<const blocking_lane*>(core_.executor()->blocking());
    if (lane == nullptr) {
        return;
    }
    std::size_t said = 0;
    const std::vector<lane_entry> busy = lane->running();
    for (const lane_entry& e : busy) {
        if (said++ == most_groups) {
            core_.log(how, "roost:   and " + std::to_string(busy.size() - most_groups) + " more in the blocking lane");
            return;
        }
        core_.log(how, "roost:   " + e.to_string());
    }
}

void conductor::look_at_manager(time_point now) {
    if (state_.at == phase::running && core_.is_ready() && !ready_sent_ && !core_.is_reloading()) {
        send_ready();
    }
    if (now >= next_probe_ && state_.at < phase::exit) {
        next_probe_ = deadline_after(now, probe_period(core_.options().live_within()));
        core_.probe().probe(now);
        const bool live = core_.is_live();
        if (live != was_live_) {
            was_live_ = live;
            if (live) {
                core_.log(severity::info, "roost: live again");
            } else {
                core_.say(
                    severity::error,
                    [&] {
                        return "roost: not live: the executor has run nothing for " +
                               format_duration(core_.options().live_within());
                    },
                    "roost: not live: the executor runs nothing");
            }
        }
    }
    wake_at(next_probe_);
    if (watchdog_ && manager_.is_open()) {
        if (now >= next_watchdog_) {
            next_watchdog_ = deadline_after(now, *watchdog_);
            if (core_.is_live()) {
                manager_.send("WATCHDOG=1");
            }
        }
        wake_at(next_watchdog_);
    }
}

void conductor::send_ready() noexcept {
    ready_sent_ = true;
    core_.say(severity::info, [&] { return "roost: '" + core_.name() + "' is ready"; }, "roost: the service is ready");
    manager_.send("READY=1\nSTATUS=ready");
}

void conductor::dump(severity how) {
    core_.log_lines(how, "roost:   ", roost::observe::dump(core_.root().tree_node(), dump_options().nodes(most_nodes)));
}

void conductor::die() {
    try {
        manager_.send("STATUS=forced to end");
        core_.log_lines(severity::error, "roost: ", core_.report().to_string());
        core_.log(severity::error, "roost: what is left of '" + core_.name() + "':");
        dump(severity::error);
        say_lane(severity::error);
    } catch (...) {}  // no memory to log it
    static_cast<void>(recorder::write_prepared());  // fails at once if none is prepared
    core_.log_ledger(core_.ledger().read().forced());
    core_.flush_log(deadline_after(now(), last_words_budget));
    die_of(signal_, forced_exit_code(core_.failure()));
}

}  // namespace roost::inline ROOST_ABI::service::detail
