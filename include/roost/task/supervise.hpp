#pragma once

// Children that may fail without taking each other down.
//
//   auto ended = co_await supervise(on_failure::restart(backoff(100ms), 5), run_feeds, std::ref(config));
//
//   task<> run_feeds(supervisor& s, config& c) {
//       for (auto& f : c.feeds) s.launch(f.name, poll_feed, std::ref(f));
//       co_return;
//   }
//
// What happens after a failure is said up front: ignore it, restart the child (fn(args...) is called again, after the
// backoff; when the limit is reached the failure escalates), or escalate: the others are cancelled and supervise() throws
// it. A child keeps its job over restarts. A cancelled child is no failure. Only the children launched here are supervised;
// a scope inside one of them fails as a unit. When supervise() returns, body and children have ended; it gives the body's
// value, the counts and the failures.

#include <roost/task/as_outcome.hpp>
#include <roost/task/backoff.hpp>
#include <roost/task/detail/policy_scope.hpp>
#include <roost/task/sleep.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace roost::inline ROOST_ABI {

// One failed attempt of a supervised child.
class child_failure {
public:
    child_failure(std::string_view name, std::exception_ptr error, std::uint32_t attempt)
        : name_(name), error_(std::move(error)), attempt_(attempt) {}
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }  // counts from 1

private:
    std::string name_;
    std::exception_ptr error_;
    std::uint32_t attempt_;
};

// What to do about a failure.
class on_failure {
public:
    enum class action : unsigned char { ignore, restart, escalate };
    using handler = std::function<on_failure(const child_failure&)>;

    [[nodiscard]] static on_failure ignore() noexcept { return on_failure(action::ignore); }
    [[nodiscard]] static on_failure escalate() noexcept { return on_failure(action::escalate); }
    // At most `limit` restarts of each child; one that ran for at least `forgiven` starts counting afresh.
    [[nodiscard]] static on_failure restart(backoff wait, std::uint32_t limit,
                                            duration forgiven = duration::max()) noexcept {
        on_failure made(action::restart);
        made.backoff_ = wait;
        made.limit_ = limit;
        made.forgiven_ = forgiven;
        return made;
    }
    // Asked at every failure, on the executor, possibly by several children at once. If it throws, that escalates as well.
    template <class Fn>
        requires std::is_invocable_r_v<on_failure, Fn&, const child_failure&>
    [[nodiscard]] static on_failure ask(Fn fn) {
        on_failure made(action::escalate);
        made.ask_ = std::move(fn);
        return made;
    }

    [[nodiscard]] action what() const noexcept { return action_; }
    [[nodiscard]] std::uint32_t limit() const noexcept { return limit_; }
    [[nodiscard]] duration forgiven() const noexcept { return forgiven_; }
    [[nodiscard]] const backoff& wait() const noexcept { return backoff_; }
    [[nodiscard]] on_failure decide(const child_failure& f) const { return ask_ ? ask_(f) : *this; }

private:
    explicit on_failure(action a) noexcept : action_(a) {}
    action action_;
    std::uint32_t limit_ = 0;
    duration forgiven_ = duration::max();
    backoff backoff_;
    handler ask_;
};

class supervised_counts {
public:
    supervised_counts() noexcept = default;
    std::size_t started = 0;  // children
    std::size_t completed = 0;
    std::size_t failed = 0;  // children that ended with a failure
    std::size_t cancelled = 0;
    std::size_t restarts = 0;
    std::size_t failures = 0;  // attempts that failed, also those that were restarted
};

namespace detail {

// What the children of one supervise() share.
class supervision : public scope_policy {
public:
    static constexpr std::size_t failures_kept = 100;

    explicit supervision(on_failure what) noexcept : scope_policy(child_ended), what_(std::move(what)) {}

    // An attempt has failed. True: start it again after `wait`.
    [[nodiscard]] bool failed(scope_core& in, std::string_view name, const std::exception_ptr& error, std::uint32_t attempt,
                              std::uint32_t& restarts, duration ran_for, duration& wait) noexcept;
    void started() noexcept;
    void restarted() noexcept;
    [[nodiscard]] supervised_counts counts() const noexcept;
    [[nodiscard]] std::vector<child_failure> take_failures() noexcept;

private:
    static void child_ended(scope_core& scope, job_core& child) noexcept;
    void record(std::string_view name, const std::exception_ptr& error, std::uint32_t attempt) noexcept;

    on_failure what_;
    mutable small_mutex lock_;
    supervised_counts counts_;
    std::vector<child_failure> failures_;
};

class now_call {
public:
    now_call() noexcept = default;
    class awaiter {
    public:
        explicit awaiter(time_point t) noexcept : now_(t) {}
        [[nodiscard]] bool await_ready() const noexcept { return true; }
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        [[nodiscard]] time_point await_resume() const noexcept { return now_; }

    private:
        time_point now_;
    };
    [[nodiscard]] awaiter in_task(promise_base& me) const noexcept {
        timer_service* timers = me.get_executor()->timers();
        return awaiter(timers == nullptr ? time_point() : timers->now());
    }
};

// The body of a supervised child: one attempt after the other, in one job.
template <class Fn, class... Args>
task<> supervised_child(supervision& all, scope_core& in, std::string name, Fn fn, Args... args) {
    std::uint32_t restarts = 0;
    for (std::uint32_t attempt = 1;; ++attempt) {
        const time_point began = co_await now_call();
        outcome<void> ended;
        try {
            task<> t = std::invoke(fn, args...);
            ended = co_await as_outcome(std::move(t));
        } catch (...) {
            ended = outcome<void>(std::current_exception());
        }
        if (ended.is_cancelled()) {
            co_await end_cancelled(ended.why());
        }
        if (ended.has_value()) {
            co_return;
        }
        const time_point now = co_await now_call();
        duration wait{};
        const bool again = all.failed(in, name, ended.error(), attempt, restarts, now - began, wait);
        if (!again) {
            std::rethrow_exception(ended.error());
        }
        co_await pause_before_retry(wait);
        all.restarted();
    }
}

}  // namespace detail

// Where supervised children are launched. Made by supervise().
class supervisor {
public:
    supervisor(detail::supervision& all, scope& in) noexcept : all_(&all), in_(&in) {}
    supervisor(const supervisor&) = delete;
    supervisor& operator=(const supervisor&) = delete;

    // Starts fn(args...), a task<>; for a restart the arguments are passed again, so they are copied. An empty job: closed.
    template <class Fn, class... Args>
    job launch(std::string_view name, Fn fn, Args... args) {
        static_assert(std::is_same_v<std::invoke_result_t<Fn&, Args&...>, task<>>,
                      "supervisor::launch(name, fn, args...): fn(args...) has to return a task<>");
        all_->started();
        return in_->launch(name, detail::supervised_child<Fn, Args...>(*all_, in_->core(), std::string(name), std::move(fn),
                                                                       std::move(args)...));
    }
    void cancel(reason why = reason::plain_kind(reason_kind::requested)) noexcept { in_->cancel(std::move(why)); }
    [[nodiscard]] token observe() const noexcept { return in_->observe(); }

private:
    detail::supervision* all_;
    scope* in_;
};

// What supervise() gives.
template <class T>
class [[nodiscard]] supervised {
public:
    supervised(detail::kept_t<T> value, supervised_counts counts, std::vector<child_failure> failures) noexcept
        : value_(std::move(value)), counts_(counts), failures_(std::move(failures)) {}

    // The body's own result.
    [[nodiscard]] const detail::kept_t<T>& value() const& noexcept { return value_; }
    [[nodiscard]] detail::kept_t<T> value() && { return std::move(value_); }
    [[nodiscard]] const supervised_counts& counts() const noexcept { return counts_; }
    // Every failed attempt in order, at most the first hundred.
    [[nodiscard]] const std::vector<child_failure>& failures() const noexcept { return failures_; }

private:
    detail::kept_t<T> value_;
    supervised_counts counts_;
    std::vector<child_failure> failures_;
};

namespace detail {

template <class T, class Fn, class... Args>
task<kept_t<T>> supervised_body(scope& s, supervision& all, Fn fn, Args... args) {
    supervisor mine(all, s);
    std::optional<kept_t<T>> value;
    co_await keep_result<T>(value, std::invoke(fn, mine, std::move(args)...));
    co_return std::move(*value);
}

template <class T, class Fn, class... Args>
task<supervised<T>> supervise_task(site where, on_failure what, Fn fn, Args... args) {
    supervision all(std::move(what));
    using start_function = task<kept_t<T>> (*)(scope&, supervision&, Fn, Args...);
    policy_scope<start_function, std::reference_wrapper<supervision>, Fn, Args...> in(
        all, where, &supervised_body<T, Fn, Args...>, std::ref(all), std::move(fn), std::move(args)...);
    kept_t<T> value = co_await std::move(in);
    co_return supervised<T>(std::move(value), all.counts(), all.take_failures());
}

template <class Fn, class... Args>
using supervised_value = typename std::invoke_result_t<Fn&, supervisor&, Args...>::value_type;

}  // namespace detail

// co_await supervise(on_failure, fn, args...): runs fn(supervisor&, args...), a task, and waits for its children too. Throws
// what the body throws, and what was escalated; then the children have been cancelled and awaited.
template <class Fn, class... Args>
[[nodiscard]] auto supervise(on_failure what, Fn&& fn, Args&&... args)
    -> task<supervised<detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>>> {
    using value = detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>;
    return detail::supervise_task<value, detail::callable_for<Fn>, std::decay_t<Args>...>(
        site(), std::move(what), std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace roost::inline ROOST_ABI
