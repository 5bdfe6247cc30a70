#pragma once

// What supervise() (flow/supervise.hpp) does after a failure, and what it reports about it.

#include <roost/base/site.hpp>
#include <roost/flow/backoff.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace roost::inline ROOST_ABI {

// One failed attempt of a supervised child.
class child_failure {
public:
    child_failure(std::string_view name, std::exception_ptr error, std::uint32_t attempt,
                  std::vector<std::exception_ptr> others = {})
        : name_(name), error_(std::move(error)), attempt_(attempt), others_(std::move(others)) {}
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }
    // Counts from 1. Returns 0 for a failed on_exit of an attempt that did not fail.
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }
    // Returns the further failures of the attempt.
    [[nodiscard]] const std::vector<std::exception_ptr>& others() const noexcept { return others_; }

private:
    std::string name_;
    std::exception_ptr error_;
    std::uint32_t attempt_;
    std::vector<std::exception_ptr> others_;
};

// The action to take on a failure.
class on_failure {
public:
    enum class action : unsigned char { ignore, restart, escalate };
    using handler = std::function<on_failure(const child_failure&)>;

    [[nodiscard]] static on_failure ignore(std::source_location where = std::source_location::current()) noexcept {
        return on_failure(action::ignore, where);
    }
    [[nodiscard]] static on_failure escalate(std::source_location where = std::source_location::current()) noexcept {
        return on_failure(action::escalate, where);
    }
    // Restarts a failed child after `wait`, at most `limit` times; then escalates. A failed attempt that ran for at least
    // `forgiven` resets the count.
    [[nodiscard]] static on_failure restart(backoff wait, std::uint32_t limit, duration forgiven = duration::max(),
                                            std::source_location where = std::source_location::current()) noexcept {
        on_failure made(action::restart, where);
        made.backoff_ = wait;
        made.limit_ = limit;
        made.forgiven_ = forgiven;
        return made;
    }
    // Calls fn at every failure and does what it returns. Called by the failed child's job; several may call it at once. If
    // fn throws, both the failure and the exception escalate.
    template <class Fn>
        requires std::is_invocable_r_v<on_failure, Fn&, const child_failure&>
    [[nodiscard]] static on_failure ask(Fn fn, std::source_location where = std::source_location::current()) {
        on_failure made(action::escalate, where);
        made.ask_ = std::move(fn);
        return made;
    }

    [[nodiscard]] action what() const noexcept { return action_; }
    // Returns the site of the call that made this object.
    [[nodiscard]] roost::site site() const noexcept { return where_; }
    [[nodiscard]] std::uint32_t limit() const noexcept { return limit_; }
    [[nodiscard]] duration forgiven() const noexcept { return forgiven_; }
    [[nodiscard]] const backoff& wait() const noexcept { return backoff_; }
    [[nodiscard]] on_failure decide(const child_failure& f) const { return ask_ ? ask_(f) : *this; }

private:
    on_failure(action a, roost::site where) noexcept : action_(a), where_(where) {}
    action action_;
    roost::site where_;
    std::uint32_t limit_ = 0;
    duration forgiven_ = duration::max();
    backoff backoff_;
    handler ask_;
};

namespace observe {

class supervised_counts {
public:
    supervised_counts() noexcept = default;
    std::size_t started = 0;  // children
    std::size_t completed = 0;
    std::size_t failed = 0;  // children that ended with a failure
    std::size_t cancelled = 0;
    std::size_t restarts = 0;
    std::size_t failures = 0;  // failed attempts, restarted ones included, and failures of on_exit in other attempts
};

}  // namespace observe

}  // namespace roost::inline ROOST_ABI
