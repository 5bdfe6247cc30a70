#include <roost/flow/supervise.hpp>

#include <roost/base/failure_sink.hpp>

#include <mutex>
#include <new>

namespace roost::inline ROOST_ABI::detail {

void report_body_failure(site where, const std::exception_ptr& error) noexcept {
    report_failure("the body of supervise", "", where, error);
}

void report_body_failures(site where, const std::vector<std::exception_ptr>& errors) noexcept {
    for (const std::exception_ptr& error : errors) {
        report_body_failure(where, error);
    }
}

void supervision::report(std::string_view name, const std::exception_ptr& error,
                         const std::vector<std::exception_ptr>& others) const noexcept {
    report_failure("supervised child", name, where_, error);
    for (const std::exception_ptr& other : others) {
        report_failure("supervised child", name, where_, other);
    }
}

// The result was not taken. Failures that were decided about are dealt with, except those whose restart did not come. No
// decision was made about failed cleanup (attempt 0).
supervision::~supervision() {
    for (std::size_t i = 0; i < failures_.size(); ++i) {
        const child_failure& f = failures_[i];
        if (f.attempt() == 0 || not_restarted_[i]) {
            report(f.name(), f.error(), f.others());
        }
    }
}

// A failure that is not kept is reported at once if no decision will be made about it, or if there was no memory.
std::size_t supervision::record(std::string_view name, const std::exception_ptr& error, std::uint32_t attempt,
                                const std::vector<std::exception_ptr>& others) noexcept {
    std::size_t kept_as = not_kept;
    bool had_memory = true;
    {
        const std::lock_guard guard(lock_);
        ++counts_.failures;
        try {
            if (failures_.size() < failures_kept) {
                failures_.emplace_back(name, error, attempt, others);
                kept_as = failures_.size() - 1;
            }
        } catch (const std::bad_alloc&) {
            had_memory = false;
        }
    }
    if (kept_as == not_kept && (attempt == 0 || !had_memory)) {
        report(name, error, others);
    }
    return kept_as;
}

void supervision::not_restarted(std::size_t kept_as, std::string_view name, const outcome<void>& ended) noexcept {
    if (kept_as == not_kept) {
        report(name, ended.error(), ended.others());
        return;
    }
    const std::lock_guard guard(lock_);
    not_restarted_.set(kept_as);
}

bool supervision::decide(scope_core& in, std::string_view name, const outcome<void>& ended, std::uint32_t attempt,
                         std::uint32_t& restarts, duration ran_for, duration& wait) noexcept {
    std::exception_ptr asking;
    try {
        const on_failure now = what_.decide(child_failure(name, ended.error(), attempt, ended.others()));
        if (now.what() == on_failure::action::ignore) {
            return false;
        }
        if (now.what() == on_failure::action::restart) {
            restarts = ran_for >= now.forgiven() ? 0 : restarts;
            if (restarts < now.limit()) {
                wait = now.wait().next(++restarts);
                return true;
            }
        }
    } catch (...) {
        asking = std::current_exception();
    }
    in.fail(ended.error());
    for (const std::exception_ptr& other : ended.others()) {
        in.fail(other);
    }
    if (asking) {  // the handler's own failure comes after the one it was called with
        in.fail(asking);
    }
    return false;
}

void supervision::started() noexcept {
    const std::lock_guard guard(lock_);
    ++counts_.started;
}

void supervision::restarted() noexcept {
    const std::lock_guard guard(lock_);
    ++counts_.restarts;
}

supervised_counts supervision::counts() const noexcept {
    const std::lock_guard guard(lock_);
    return counts_;
}

std::vector<child_failure> supervision::take_failures() noexcept {
    const std::lock_guard guard(lock_);
    return std::move(failures_);
}

void supervision::child_ended(scope_core& scope, job_core& child) noexcept {
    auto& mine = const_cast<supervision&>(static_cast<const supervision&>(scope.policy()));
    // The failures beside a failure are those of its attempt: recorded, and decided about, with it.
    if (child.outcome_link().state() != ending::threw) {
        child.suppressed().for_each(
            [&](const std::exception_ptr& other) { static_cast<void>(mine.record(child.name(), other, 0, {})); });
    }
    const std::lock_guard guard(mine.lock_);
    switch (child.outcome_link().state()) {
        case ending::threw: ++mine.counts_.failed; break;
        case ending::cancelled: ++mine.counts_.cancelled; break;
        default: ++mine.counts_.completed; break;
    }
}

void check_supervise_options(const scope_options& how) noexcept {
    if (how.failures() != scope_options::on_child_failure::cancel_others) {
        panic("supervise", how.name().text(), how.site(),
              "on_failure decides what a failure does: leave keep_going() and report_failures() out of its scope options");
    }
}

}  // namespace roost::inline ROOST_ABI::detail
