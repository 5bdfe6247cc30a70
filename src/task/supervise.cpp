#include <roost/task/supervise.hpp>

#include <roost/task/failure_sink.hpp>

#include <algorithm>
#include <mutex>

namespace roost::inline ROOST_ABI::detail {

void report_body_failure(site where, const std::exception_ptr& error) noexcept {
    report_failure("the body of supervise", "supervise", where, error);
}

void report_body_failures(site where, const std::vector<std::exception_ptr>& errors) noexcept {
    for (const std::exception_ptr& error : errors) {
        report_body_failure(where, error);
    }
}

// Nobody has taken the result. What was decided about has been dealt with; nobody was asked about the rest.
supervision::~supervision() {
    for (const child_failure& f : failures_) {
        if (f.attempt() == 0) {
            report_failure("supervised child", f.name(), what_.where(), f.error());
        }
    }
}

void supervision::record(std::string_view name, const std::exception_ptr& error, std::uint32_t attempt,
                         const std::vector<std::exception_ptr>& others) noexcept {
    bool kept = true;
    {
        const std::lock_guard guard(lock_);
        ++counts_.failures;
        try {
            if (failures_.size() < failures_kept) {
                failures_.emplace_back(name, error, attempt, others);
            }
        } catch (const std::bad_alloc&) {
            kept = false;
        }
    }
    if (!kept) {
        report_failure("supervised child", name, site(), error);
        for (const std::exception_ptr& other : others) {
            report_failure("supervised child", name, site(), other);
        }
    }
}

// The failures of one attempt, as far as they are kept.
bool supervision::is_beside(const std::exception_ptr& error) const noexcept {
    const std::lock_guard guard(lock_);
    return std::any_of(failures_.begin(), failures_.end(), [&](const child_failure& f) {
        return std::find(f.others().begin(), f.others().end(), error) != f.others().end();
    });
}

bool supervision::failed(scope_core& in, std::string_view name, const outcome<void>& ended, std::uint32_t attempt,
                         std::uint32_t& restarts, duration ran_for, duration& wait) noexcept {
    record(name, ended.error(), attempt, ended.others());
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
    if (asking) {  // the handler's own failure comes after what it was asked about
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
    for (const std::exception_ptr& other : child.suppressed()) {
        if (!mine.is_beside(other)) {
            mine.record(child.name(), other, 0, {});
        }
    }
    const std::lock_guard guard(mine.lock_);
    switch (child.outcome_link().state()) {
        case ending::threw: ++mine.counts_.failed; break;
        case ending::cancelled: ++mine.counts_.cancelled; break;
        default: ++mine.counts_.completed; break;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
