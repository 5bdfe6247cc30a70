#include <roost/task/supervise.hpp>

#include <roost/task/failure_sink.hpp>

#include <mutex>

namespace roost::inline ROOST_ABI::detail {

void supervision::record(std::string_view name, const std::exception_ptr& error, std::uint32_t attempt) noexcept {
    bool kept = true;
    {
        const std::lock_guard guard(lock_);
        ++counts_.failures;
        try {
            if (failures_.size() < failures_kept) {
                failures_.emplace_back(name, error, attempt);
            }
        } catch (const std::bad_alloc&) {
            kept = false;
        }
    }
    if (!kept) {
        report_failure("supervised child", name, site(), error);
    }
}

bool supervision::failed(scope_core& in, std::string_view name, const std::exception_ptr& error, std::uint32_t attempt,
                         std::uint32_t& restarts, duration ran_for, duration& wait) noexcept {
    record(name, error, attempt);
    try {
        const on_failure now = what_.decide(child_failure(name, error, attempt));
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
        in.fail(error);
    } catch (...) {  // the handler's own failure comes after what it was asked about
        in.fail(error);
        in.fail(std::current_exception());
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
        mine.record(child.name(), other, 0);
    }
    const std::lock_guard guard(mine.lock_);
    switch (child.outcome_link().state()) {
        case ending::threw: ++mine.counts_.failed; break;
        case ending::cancelled: ++mine.counts_.cancelled; break;
        default: ++mine.counts_.completed; break;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
