#pragma once

// Building blocks of the combinators: a scope with a policy of its own, and an await that ends the body cancelled.

#include <roost/base/detail/result.hpp>
#include <roost/task/detail/job/scope_await.hpp>

#include <functional>
#include <optional>
#include <tuple>

namespace roost::inline ROOST_ABI::detail {

// Cancels the scope if a child fails or is cancelled: for results that need every child.
extern const scope_policy need_all_policy;
// Ignores how children end: the children record it themselves.
extern const scope_policy outcome_policy;

// with_scope with a policy and a name. Call, policy and arguments live in the awaiting frame.
template <class Fn, class... Args>
class [[nodiscard]] policy_scope {
    using value = typename std::invoke_result_t<Fn&, scope&, Args...>::value_type;

public:
    policy_scope(const scope_policy& policy, node_name name, roost::site where, Fn fn, Args... args)
        : policy_(&policy), name_(name), site_(where), fn_(std::move(fn)), args_(std::move(args)...) {}

    // At most n children run at the same time; zero: no limit.
    [[nodiscard]] policy_scope& at_most(std::uint32_t n) noexcept { return limit_ = n, *this; }

    template <transfer Mode = this_transfer>
    [[nodiscard]] auto in_task(promise_base& me) && {
        if (!site_.is_known()) {
            site_ = me.region().made_at();
        }
        return scope_await<value, policy_scope, Mode>(me, *this, *policy_, limit_);
    }
    [[nodiscard]] roost::site site() const noexcept { return site_; }
    [[nodiscard]] node_name name() const noexcept { return name_; }
    [[nodiscard]] promise_base& start(scope& s) {
        return task_access::release_frame(
            std::apply([&](auto&... args) { return std::invoke(fn_, s, std::move(args)...); }, args_));
    }

private:
    const scope_policy* policy_;
    node_name name_;
    roost::site site_;
    std::uint32_t limit_ = 0;
    Fn fn_;
    std::tuple<Args...> args_;
};

// Starts a child whose site is that of its scope.
template <class T>
job launch_in(scope& s, node_name name, task<T> t) {
    auto block = start_job<T>(task_access::core_of(s), name, task_access::release_frame(t), start_mode::scheduled,
                              task_access::core_of(s).made_at());
    return job(node_ref<job_core>::adopt(block.release_to_caller()));
}

// co_await end_cancelled(why): ends the body here, cancelled. Does not return.
class end_cancelled {
public:
    explicit end_cancelled(reason why) noexcept : why_(std::move(why)) {}

    class awaiter {
    public:
        awaiter(promise_base& me, reason why) noexcept : me_(&me), why_(std::move(why)) {}
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) noexcept {
            unwind_frame(*me_, me_->region().is_cancelled_relaxed() ? me_->region().why() : std::move(why_));
        }
        void await_resume() const noexcept {}

    private:
        promise_base* me_;
        reason why_;
    };
    [[nodiscard]] awaiter in_task(promise_base& me) && noexcept { return awaiter(me, std::move(why_)); }

private:
    reason why_;
};

// co_await carry_failure(thrown, other): `other` travels with `thrown`, which the body throws next.
class carry_failure {
public:
    carry_failure(std::exception_ptr thrown, std::exception_ptr other) noexcept
        : thrown_(std::move(thrown)), other_(std::move(other)) {}
    [[nodiscard]] std::suspend_never in_task(promise_base& me) && noexcept {
        job_of(me).carry(thrown_, std::move(other_));
        return {};
    }

private:
    std::exception_ptr thrown_;
    std::exception_ptr other_;
};

// Awaits t and returns its kept result.
template <class T>
task<> keep_result(std::optional<kept_t<T>>& slot, task<T> t) {
    if constexpr (std::is_void_v<T>) {
        co_await std::move(t);
        slot.emplace();
    } else {
        slot.emplace(co_await std::move(t));
    }
}

// Waits before the next attempt. Without a delay it needs no timers, and still lets other work run.
task<> pause_before_retry(duration d);

// Returns the reason of the first of these jobs that ended cancelled.
template <class Jobs>
[[nodiscard]] reason first_cancellation(const Jobs& jobs) noexcept {
    for (const job& j : jobs) {
        if (j.state() == job_state::cancelled) {
            return j.why();
        }
    }
    return reason::plain_kind(reason_kind::requested);
}

}  // namespace roost::inline ROOST_ABI::detail
