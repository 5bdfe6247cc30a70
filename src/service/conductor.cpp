// Orders C1 to C3: service/detail/conductor.hpp.

#include <roost/service/detail/conductor.hpp>

#include <roost/observe/dump.hpp>
#include <roost/runtime/blocking_lane.hpp>
#include <roost/service/budgets.hpp>
#include <roost/service/detail/last_resort.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace roost::inline ROOST_ABI::service::detail {

using namespace observe;
using namespace seam;

namespace {

constexpr duration before_trying_again = std::chrono::milliseconds(20);

std::string_view environment(const char* name) noexcept {
    const char* text = std::getenv(name);
    return text == nullptr ? std::string_view() : std::string_view(text);
}

std::string from(int sender) {
    switch (sender) {
        case 0: return " from a terminal or from outside the container";
        case unknown_sender: return " from an unknown process";
        default: return " from pid " + std::to_string(sender);
    }
}

std::string sender_text(handled h, int sender) noexcept {
    try {
        return signal_name(number_of(h)) + from(sender);
    } catch (...) {
        return {};
    }
}

}  // namespace

conductor::conductor(host_core& core, const wake_fd& news, const wake_fd& deadline_set)
    : core_(core),
      news_(news),
      deadline_set_(deadline_set),
      manager_(environment("NOTIFY_SOCKET")),
      watchdog_(watchdog_period(std::getenv("WATCHDOG_USEC"), std::getenv("WATCHDOG_PID"), ::getpid())) {}

conductor::~conductor() { end(); }

void conductor::start() {
    thread_ = thread([this] { run(); });
}

void conductor::end() noexcept {
    if (thread_.joinable()) {
        ending_.store(true, mo::seq_cst);  // C3
        core_.wake().ring();
        thread_.join();
    }
}

void conductor::run() noexcept {
    for (;;) {
        next_ = no_deadline;
        if (ending_.load(mo::seq_cst)) {  // C3
            return;
        }
        try {
            look(now());
            if (!looked_.load(mo::seq_cst)) {  // C1
                looked_.store(true, mo::seq_cst);  // C1
                news_.ring();
            }
        } catch (const std::exception& e) {
            look_again_soon(e);  // requests are kept; what has not been done is done at the next check
        }
        core_.wake().sleep_until(next_);
    }
}

void conductor::look_again_soon(const std::exception& e) noexcept {
    core_.log(severity::error, e.what());
    wake_at(deadline_after(now(), before_trying_again));
}

void conductor::look(time_point now) {
    look_at_signals(now);
    look_at_wishes(now);
    look_at_phase(now);
    look_at_manager(now);
    look_at_reports(now);
}

// --- what comes in -----------------------------------------------------------------------------------------------------------

void conductor::look_at_signals(time_point now) {
    if (!core_.options().signals()) {
        return;
    }
    const signal_counts fresh = signal_inbox::read();
    const signal_counts old = std::exchange(seen_, fresh);
    for (const handled h : {handled::term, handled::interrupt, handled::hangup}) {
        for (std::uint32_t n = old.of(h); n != fresh.of(h) && state_.signals < 3; ++n) {
            one_signal(h, fresh.sender_of(h, n), now);
        }
    }
    if (fresh.of(handled::user) != old.of(handled::user)) {
        // One tree for all signals since the last check; the last sender is named.
        core_.log(severity::info, "roost: SIGUSR1" + from(fresh.sender_of(handled::user, fresh.of(handled::user) - 1)) +
                                      ": the tree of '" + core_.name() + "', phase " + std::string(to_string(state_.at)));
        dump(severity::info);
    }
}

void conductor::one_signal(handled h, int sender, time_point now) noexcept {
    const std::string who = sender_text(h, sender);
    const auto say = [&](std::string_view what) {
        core_.say(severity::info, [&] { return ("roost: " + who).append(what); }, "roost: a signal arrived");
    };
    if (h == handled::hangup) {
        if (state_.at > phase::running) {
            say(": no reload during shutdown");
            return;
        }
        if (reload(now, say)) {
            return;
        }
        core_.set_ends_by_hangup();
    }
    signal_ = number_of(h);
    set_cause(who);
    arm(now);
    static constexpr const char* what[] = {": shutting down", ": not waiting any longer, cancelling what is left",
                                           ": ending the process without further waiting"};
    say(what[std::min<std::size_t>(state_.signals, 2)]);
    apply(phase_event::signal, now);
}

// Returns false if there is no hook: then SIGHUP begins shutdown.
template <class Say>
bool conductor::reload(time_point now, const Say& say) noexcept {
    try {
        if (!core_.reload()) {
            return false;
        }
        say(": reloading");
        manager_.send("RELOADING=1\nMONOTONIC_USEC=" +
                      std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count()));
        ready_sent_ = false;
    } catch (const std::exception& e) {
        core_.log(severity::error, "roost: no memory to start the reload, or to notify the service manager of it");
        core_.log(severity::error, e.what());
    }
    return true;
}

void conductor::set_cause(std::string_view text) noexcept {
    try {
        cause_ = text;
    } catch (...) {
        cause_.clear();
    }
}

reason conductor::why() const noexcept {
    try {
        return reason(reason_kind::shutdown, cause_, core_.root().tree_node().site());
    } catch (...) {
        return reason::plain_kind(reason_kind::shutdown);
    }
}

void conductor::look_at_wishes(time_point now) noexcept {
    const std::uint32_t wishes = core_.take_wishes();
    if (contains(wishes, wish::shut_down) || contains(wishes, wish::cancel)) {
        arm(now);
        const std::string asked = core_.take_why();
        const bool cancels = contains(wishes, wish::cancel);
        if (!asked.empty() && (cancels ? state_.at < phase::cancel : state_.at == phase::running)) {
            set_cause(asked);
            const char* what = cancels ? ": cancelling" : ": shutting down";
            core_.say(severity::info, [&] { return "roost: " + asked + what; }, "roost: the program requested the end");
        }
        apply(cancels ? phase_event::cancel_asked : phase_event::asked, now);
    }
    if (contains(wishes, wish::main_ended) && state_.at <= phase::lame_duck) {
        const bool failed = core_.failure() == exit_code::main_failed;
        set_cause(failed ? "the root task failed" : "the root task ended");
        arm(now);
        core_.log(severity::info,
                  failed ? "roost: the root task failed: shutting down" : "roost: the root task ended: shutting down");
        apply(phase_event::main_ended, now);
    }
}

// --- phases ------------------------------------------------------------------------------------------------------------------

void conductor::look_at_phase(time_point now) {
    // Each round ends a phase or leaves the loop, and a phase is never entered twice.
    carry_out(now);
    for (;;) {
        const phase_state before = state_;
        if (due_ == phase_effect::none && is_done(now)) {
            apply(phase_event::phase_done, now);
        } else if (now >= phase_deadline_) {
            apply(phase_event::budget_spent, now);
        } else if (now >= core_.hard_deadline()) {
            core_.say(
                severity::error,
                [&] { return "roost: the hard deadline of " + format_duration(core_.times().total()) + " has passed"; },
                "roost: the hard deadline has passed");
            apply(phase_event::total_spent, now);
        }
        if (state_ == before) {
            break;
        }
    }
    wake_at(phase_deadline_);
    wake_at(core_.hard_deadline());
}

// Returns true if every component has been stopped and is over, and so is everything else below the node above them.
bool conductor::is_stage_over(roost::shutdown& above, time_point now) {
    if (!core_.components().step(now, next_)) {
        return false;
    }
    if (!above.tree_node().stop_requested()) {
        ring_when_over(above, core_.wake().fd());  // what can fail comes first
        static_cast<void>(above.shut_down(why()));
    }
    return above.state() == shutdown_state::complete;
}

bool conductor::is_done(time_point now) {
    switch (state_.at) {
        case phase::stop_intake: return core_.components().step(now, next_);
        case phase::drain: return is_stage_over(core_.work(), now);
        case phase::cancel:
        case phase::abort: return core_.work().state() == shutdown_state::complete;
        case phase::release: return is_stage_over(core_.resources(), now);
        default: return false;
    }
}

void conductor::apply(phase_event e, time_point now) noexcept {
    const phase_state before = state_;
    const phase_step step = advance(state_, e);
    state_ = step.next();
    if (step.effect() != phase_effect::none || state_.at != before.at) {
        enter(before, step.effect(), now);
    }
}

// Called first: nothing that follows may delay the hard deadline, which the last resort enforces as well.
void conductor::arm(time_point now) noexcept {
    if (core_.hard_deadline() == no_deadline) {
        core_.set_hard_deadline(deadline_after(now, core_.times().total()));
        deadline_set_.ring();
    }
}

void conductor::begin_shutdown(time_point now) noexcept {
    next_report_ = deadline_after(now, core_.options().report_every());
    last_settled_ = core_.ledger().read().all_settled();
    try {
        manager_.send("STOPPING=1\nSTATUS=shutting down: " + cause_);
    } catch (...) {
        manager_.send("STOPPING=1\nSTATUS=shutting down");
    }
}

void conductor::enter(phase_state before, phase_effect effect, time_point now) noexcept {
    if (contains(effect, phase_effect::not_ready)) {
        begin_shutdown(now);
    }
    core_.set_phase(state_.at);
    if (state_.at != before.at && state_.at != phase::forced) {
        const duration budget = core_.times().of(state_.at);
        phase_deadline_ = budgets::has_budget(state_.at) ? deadline_after(now, budget) : no_deadline;
        core_.say(
            severity::info,
            [&] {
                return "roost: phase " + std::string(to_string(state_.at)) +
                       (budgets::has_budget(state_.at) ? ", at most " + format_duration(budget) : "");
            },
            "roost: the next phase of shutdown");
    }
    if (contains(effect, phase_effect::die)) {
        core_.say(
            severity::error, [&] { return "roost: forced to end in phase " + std::string(to_string(before.at)); },
            "roost: forced to end");
        die();
    }
    due_ = due_ | effect;
    carry_out(now);
}

void conductor::carry_out(time_point now) noexcept {
    try {
        const int bell = core_.wake().fd();
        // An effect that fails stays due, and so do those after it: the order is that of the phases.
        const auto carry = [&](phase_effect one, auto act) {
            if (contains(due_, one)) {
                act();
                due_ = without(due_, one);
            }
        };
        carry(phase_effect::not_ready, [] {});
        carry(phase_effect::stop_intake, [&] { core_.components().begin(stage::intake, phase_deadline_, why(), bell); });
        carry(phase_effect::stop_work, [&] { core_.components().begin(stage::work, phase_deadline_, why(), bell); });
        carry(phase_effect::cancel_work, [&] {
            ring_when_over(core_.work(), bell);  // what can fail comes first
            core_.work().cancel(why());
        });
        carry(phase_effect::abort_work, [&] { core_.work().abort(why()); });
        carry(phase_effect::stop_resources, [&] {
            core_.components().close(stage::work);
            core_.components().begin(stage::release, phase_deadline_, why(), bell);
        });
        carry(phase_effect::cancel_resources, [&] {
            core_.resources().cancel(why());
            phase_deadline_ = deadline_after(now, core_.times().of(phase::abort));
        });
        carry(phase_effect::finish, [&] {
            core_.components().close(stage::release);
            over_set_.store(true, mo::seq_cst);  // C2
            news_.ring();
        });
    } catch (const std::exception& e) {
        look_again_soon(e);
    }
}

}  // namespace roost::inline ROOST_ABI::service::detail
