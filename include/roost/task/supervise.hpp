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
// a scope inside one of them fails as a unit. When supervise() returns, body and children have ended; it gives how the body
// ended, the counts and the failures.

#include <roost/task/as_outcome.hpp>
#include <roost/task/backoff.hpp>
#include <roost/task/detail/policy_scope.hpp>
#include <roost/task/failure_sink.hpp>
#include <roost/task/sleep.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
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

    [[nodiscard]] static on_failure ignore(std::source_location where = std::source_location::current()) noexcept {
        return on_failure(action::ignore, where);
    }
    [[nodiscard]] static on_failure escalate(std::source_location where = std::source_location::current()) noexcept {
        return on_failure(action::escalate, where);
    }
    // At most `limit` restarts of each child; one that ran for at least `forgiven` starts counting afresh.
    [[nodiscard]] static on_failure restart(backoff wait, std::uint32_t limit, duration forgiven = duration::max(),
                                            std::source_location where = std::source_location::current()) noexcept {
        on_failure made(action::restart, where);
        made.backoff_ = wait;
        made.limit_ = limit;
        made.forgiven_ = forgiven;
        return made;
    }
    // Asked at every failure, on the executor, possibly by several children at once. If it throws, that escalates as well.
    template <class Fn>
        requires std::is_invocable_r_v<on_failure, Fn&, const child_failure&>
    [[nodiscard]] static on_failure ask(Fn fn, std::source_location where = std::source_location::current()) {
        on_failure made(action::escalate, where);
        made.ask_ = std::move(fn);
        return made;
    }

    [[nodiscard]] action what() const noexcept { return action_; }
    // Where it was written: reports call that the place of the supervise().
    [[nodiscard]] site where() const noexcept { return where_; }
    [[nodiscard]] std::uint32_t limit() const noexcept { return limit_; }
    [[nodiscard]] duration forgiven() const noexcept { return forgiven_; }
    [[nodiscard]] const backoff& wait() const noexcept { return backoff_; }
    [[nodiscard]] on_failure decide(const child_failure& f) const { return ask_ ? ask_(f) : *this; }

private:
    on_failure(action a, site where) noexcept : action_(a), where_(where) {}
    action action_;
    site where_;
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

// A name, and where it was written.
class child_name {
public:
    template <class S>
        requires std::convertible_to<const S&, std::string_view>
    constexpr explicit(false)
        child_name(const S& text, std::source_location where = std::source_location::current()) noexcept
        : text_(text), where_(where) {}
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }
    [[nodiscard]] constexpr std::source_location where() const noexcept { return where_; }

private:
    std::string_view text_;
    std::source_location where_;
};

// Where supervised children are launched. Made by supervise().
class supervisor {
public:
    supervisor(detail::supervision& all, scope& in) noexcept : all_(&all), in_(&in) {}
    supervisor(const supervisor&) = delete;
    supervisor& operator=(const supervisor&) = delete;

    // Starts fn(args...), a task<>; for a restart the arguments are passed again, so they are copied. An empty job: closed.
    template <class Fn, class... Args>
    job launch(child_name name, Fn fn, Args... args) {
        static_assert(std::is_same_v<std::invoke_result_t<Fn&, Args&...>, task<>>,
                      "supervisor::launch(name, fn, args...): fn(args...) has to return a task<>");
        all_->started();
        return in_->launch(name.text(),
                           detail::supervised_child<Fn, Args...>(*all_, in_->core(), std::string(name.text()), std::move(fn),
                                                                 std::move(args)...),
                           start::scheduled, name.where());
    }
    void cancel(reason why = reason::plain_kind(reason_kind::requested)) noexcept { in_->cancel(std::move(why)); }
    [[nodiscard]] token observe() const noexcept { return in_->observe(); }

private:
    detail::supervision* all_;
    scope* in_;
};

// What supervise() gives. A failure of the body that nobody looks at, by value() or body(), goes to the failure sink.
template <class T>
class [[nodiscard]] supervised {
public:
    supervised(outcome<detail::kept_t<T>> body, supervised_counts counts, std::vector<child_failure> failures,
               site where) noexcept(std::is_nothrow_move_constructible_v<detail::kept_t<T>>)
        : body_(std::move(body)),
          counts_(counts),
          failures_(std::move(failures)),
          where_(where),
          unseen_(body_.has_error()) {}
    supervised(supervised&& other) noexcept(std::is_nothrow_move_constructible_v<detail::kept_t<T>>)
        : body_(std::move(other.body_)),
          counts_(other.counts_),
          failures_(std::move(other.failures_)),
          where_(other.where_),
          unseen_(std::exchange(other.unseen_, false)) {}
    ~supervised() {
        if (unseen_) {
            report_failure("the body of supervise", "supervise", where_, body_.error());
        }
    }

    // How the body ended: its value or its error.
    [[nodiscard]] const outcome<detail::kept_t<T>>& body() const noexcept {
        unseen_ = false;
        return body_;
    }
    // The body's own result; throws its error with its own type.
    [[nodiscard]] const detail::kept_t<T>& value() const& {
        throw_error();
        return body_.value();
    }
    [[nodiscard]] detail::kept_t<T> value() && {
        throw_error();
        return std::move(body_).value();
    }
    [[nodiscard]] const supervised_counts& counts() const noexcept { return counts_; }
    // Every failed attempt in order, at most the first hundred.
    [[nodiscard]] const std::vector<child_failure>& failures() const noexcept { return failures_; }

private:
    void throw_error() const {
        if (body().has_error()) {
            std::rethrow_exception(body_.error());
        }
    }

    outcome<detail::kept_t<T>> body_;
    supervised_counts counts_;
    std::vector<child_failure> failures_;
    site where_;
    mutable bool unseen_;
};

namespace detail {

// A body that fails takes the children down, but is no failure of the scope: how it ended is part of the result.
template <class T, class Fn, class... Args>
task<> supervised_body(scope& s, supervision& all, outcome<kept_t<T>>& result, Fn fn, Args... args) {
    supervisor mine(all, s);
    std::optional<kept_t<T>> value;
    outcome<void> ended;
    try {
        task<> body = keep_result<T>(value, std::invoke(fn, mine, std::move(args)...));
        ended = co_await as_outcome(std::move(body));
    } catch (...) {
        ended = outcome<void>(std::current_exception());
    }
    if (ended.is_cancelled()) {
        co_await end_cancelled(ended.why());
    }
    if (ended.has_error()) {
        result = outcome<kept_t<T>>(ended.error());
        s.cancel(reason::plain_kind(reason_kind::failure));
    } else {
        result = outcome<kept_t<T>>(std::in_place, std::move(*value));
    }
}

template <class T, class Fn, class... Args>
task<supervised<T>> supervise_task(on_failure what, Fn fn, Args... args) {
    const site where = what.where();
    supervision all(std::move(what));
    outcome<kept_t<T>> result;
    using start_function = task<> (*)(scope&, supervision&, outcome<kept_t<T>>&, Fn, Args...);
    policy_scope<start_function, std::reference_wrapper<supervision>, std::reference_wrapper<outcome<kept_t<T>>>, Fn,
                 Args...>
        in(all, "supervise", where, &supervised_body<T, Fn, Args...>, std::ref(all), std::ref(result), std::move(fn),
           std::move(args)...);
    co_await std::move(in);
    co_return supervised<T>(std::move(result), all.counts(), all.take_failures(), where);
}

template <class Fn, class... Args>
using supervised_value = typename std::invoke_result_t<Fn&, supervisor&, Args...>::value_type;

}  // namespace detail

// co_await supervise(on_failure, fn, args...): runs fn(supervisor&, args...), a task, and waits for its children too. When the
// body fails the children are cancelled and awaited, and how it ended is in the result; what was escalated is thrown.
template <class Fn, class... Args>
[[nodiscard]] auto supervise(on_failure what, Fn&& fn, Args&&... args)
    -> task<supervised<detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>>> {
    using value = detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>;
    return detail::supervise_task<value, detail::callable_for<Fn>, std::decay_t<Args>...>(
        std::move(what), std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace roost::inline ROOST_ABI
