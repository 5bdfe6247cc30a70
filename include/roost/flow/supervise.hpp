#pragma once

// Children that may fail without cancelling each other.
//
//   auto ended = co_await supervise(on_failure::restart(backoff(100ms), 5), run_feeds, std::ref(config));
//
//   task<> run_feeds(supervisor& s, config& c) {
//       for (auto& f : c.feeds) s.launch(f.name, poll_feed, std::ref(f));
//       co_return;
//   }
//
// The first argument says what a failure does. ignore: it is counted. restart: fn(args...) is called again after the backoff;
// at the limit the failure escalates. escalate: the others are cancelled, and supervise() throws the failure. A child keeps
// its job over restarts. A cancelled child is no failure. Only the children launched here are supervised; a scope inside one
// of them fails as a unit. supervise() returns when the body and the children have ended. It returns how the body ended, the
// counts and the failures.
//
// The further failures of an attempt share the fate of its failure: ignored with it, made good by a restart, or thrown with
// it. If supervise() throws and the body has failed too, the body's failure travels with the exception. If supervise() throws
// or is cancelled, there is no result, and failures whose restart did not come go to the failure sink.

#include <roost/flow/detail/placed.hpp>
#include <roost/flow/on_failure.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/child_name.hpp>
#include <roost/task/detail/frame/ready_await.hpp>
#include <roost/task/detail/job/policy_scope.hpp>
#include <roost/task/failure_sink.hpp>
#include <roost/task/sleep.hpp>

#include <bitset>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace roost::inline ROOST_ABI {

namespace detail {

// State that the children of one supervise() share.
class supervision : public scope_policy {
public:
    static constexpr std::size_t failures_kept = 100;

    supervision(on_failure what, site where) noexcept : scope_policy(child_ended), what_(std::move(what)), where_(where) {}
    supervision(const supervision&) = delete;
    supervision& operator=(const supervision&) = delete;
    ~supervision();

    static constexpr std::size_t not_kept = failures_kept;

    // Records a failed attempt. Returns its index, or not_kept.
    [[nodiscard]] std::size_t record(std::string_view name, const std::exception_ptr& error, std::uint32_t attempt,
                                     const std::vector<std::exception_ptr>& others) noexcept;
    // Decides what to do about a failure. Returns true if the child is to be restarted after `wait`.
    [[nodiscard]] bool decide(scope_core& in, std::string_view name, const outcome<void>& ended, std::uint32_t attempt,
                              std::uint32_t& restarts, duration ran_for, duration& wait) noexcept;
    void started() noexcept;
    void restarted() noexcept;
    // Called if a cancel came before the restart that was to make the failure good.
    void not_restarted(std::size_t kept_as, std::string_view name, const outcome<void>& ended) noexcept;
    [[nodiscard]] supervised_counts counts() const noexcept;
    [[nodiscard]] std::vector<child_failure> take_failures() noexcept;

private:
    static void child_ended(scope_core& scope, job_core& child) noexcept;
    void report(std::string_view name, const std::exception_ptr& error,
                const std::vector<std::exception_ptr>& others) const noexcept;

    on_failure what_;
    site where_;  // of the supervise()
    mutable small_mutex lock_;
    supervised_counts counts_;
    std::vector<child_failure> failures_;
    std::bitset<failures_kept> not_restarted_;
};

// Reports the failure if the restart that was decided on does not come.
class pending_restart {
public:
    pending_restart(supervision& all, std::string_view name, const outcome<void>& last) noexcept
        : all_(&all), name_(name), last_(&last) {}
    pending_restart(const pending_restart&) = delete;
    pending_restart& operator=(const pending_restart&) = delete;
    ~pending_restart() {
        if (is_waiting_) {
            all_->not_restarted(kept_as_, name_, *last_);
        }
    }

    void wait_for(std::size_t kept_as) noexcept {
        kept_as_ = kept_as;
        is_waiting_ = true;
    }
    void begins() noexcept {
        if (std::exchange(is_waiting_, false)) {
            all_->restarted();
        }
    }
    // Called if the failure has been dealt with otherwise.
    void will_not_come() noexcept { is_waiting_ = false; }

private:
    supervision* all_;
    std::string_view name_;
    const outcome<void>* last_;
    std::size_t kept_as_ = supervision::not_kept;
    bool is_waiting_ = false;
};

void report_body_failure(site where, const std::exception_ptr& error) noexcept;
void report_body_failures(site where, const std::vector<std::exception_ptr>& errors) noexcept;

class now_call {
public:
    now_call() noexcept = default;
    [[nodiscard]] ready_await<time_point> in_task(promise_base& me) const noexcept {
        timer_service* timers = me.get_executor()->timers();
        return ready_await<time_point>(timers == nullptr ? time_point() : timers->now());
    }
};

// The body of a supervised child: one attempt after the other, in one job.
template <class Fn, class... Args>
task<> supervised_child(supervision& all, scope_core& in, std::string name, Fn fn, Args... args) {
    std::uint32_t restarts = 0;
    outcome<void> last;
    pending_restart restart(all, name, last);
    for (std::uint32_t attempt = 1;; ++attempt) {
        const time_point began = co_await now_call();
        outcome<void> ended;
        try {
            task<> t = std::invoke(fn, args...);
            ended = co_await outcome_of_attempt<void, pending_restart>(std::move(t), restart);
        } catch (...) {
            restart.begins();
            ended = outcome<void>(std::current_exception());
        }
        if (ended.is_cancelled()) {
            co_await end_cancelled(ended.why());
        }
        if (ended.has_value()) {
            co_return;
        }
        last = std::move(ended);
        const time_point now = co_await now_call();
        duration wait{};
        const std::size_t kept_as = all.record(name, last.error(), attempt, last.others());
        const bool again = all.decide(in, name, last, attempt, restarts, now - began, wait);
        if (!again) {
            for (const std::exception_ptr& other : last.others()) {
                co_await carry_failure(last.error(), other);
            }
            std::rethrow_exception(last.error());
        }
        restart.wait_for(kept_as);
        std::exception_ptr no_wait;
        try {
            co_await pause_before_retry(wait);
        } catch (...) {
            no_wait = std::current_exception();
        }
        if (no_wait) {  // no memory for the wait: no decision was made about that
            restart.will_not_come();
            in.fail(no_wait);
            in.fail(last.error());
            std::rethrow_exception(no_wait);
        }
    }
}

}  // namespace detail

// Launches supervised children. Made by supervise().
class supervisor {
public:
    supervisor(detail::supervision& all, scope& in) noexcept : all_(&all), in_(&in) {}
    supervisor(const supervisor&) = delete;
    supervisor& operator=(const supervisor&) = delete;

    // Starts fn(args...), a task<>. The arguments are copied, because a restart passes them again; std::ref(x) passes a
    // reference. Returns an empty job if the scope is closed.
    template <class Fn, class... Args>
    job launch(child_name name, Fn fn, Args... args) {
        static_assert(std::is_same_v<detail::called_again<Fn&, Args...>, task<>>,
                      "supervisor::launch(name, fn, args...): fn(args...) has to return a task<>");
        job made = in_->launch(name.text(),
                               detail::supervised_child<Fn, Args...>(*all_, in_->core(), std::string(name.text()),
                                                                     std::move(fn), std::move(args)...),
                               start::scheduled, name.site());
        if (made) {
            all_->started();
        }
        return made;
    }
    void cancel(reason why = reason::plain_kind(reason_kind::requested)) noexcept { in_->cancel(std::move(why)); }
    [[nodiscard]] token observe() const noexcept { return in_->observe(); }

private:
    detail::supervision* all_;
    scope* in_;
};

// The result of supervise(). A failure of the body that is not observed by value(), error() or body() goes to the failure
// sink. So do its further failures, which value() does not throw.
template <class T>
class [[nodiscard]] supervised {
public:
    supervised(outcome<detail::kept_t<T>> body, supervised_counts counts, std::vector<child_failure> failures,
               site where) noexcept(std::is_nothrow_move_constructible_v<detail::kept_t<T>>)
        : body_(std::move(body)),
          counts_(counts),
          failures_(std::move(failures)),
          where_(where),
          unseen_(body_.has_error()),
          others_unseen_(unseen_) {}
    supervised(supervised&& other) noexcept(std::is_nothrow_move_constructible_v<detail::kept_t<T>>)
        : body_(std::move(other.body_)),
          counts_(other.counts_),
          failures_(std::move(other.failures_)),
          where_(other.where_),
          unseen_(std::exchange(other.unseen_, false)),
          others_unseen_(std::exchange(other.others_unseen_, false)) {}
    ~supervised() {
        if (unseen_) {
            detail::report_body_failure(where_, body_.error());
        }
        if (others_unseen_) {
            detail::report_body_failures(where_, body_.others());
        }
    }

    // The result of the body, with the names of base/status.hpp. Calling error() observes the failure.
    [[nodiscard]] bool has_value() const noexcept { return body_.has_value(); }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] wait_status status() const noexcept { return body_.status(); }
    [[nodiscard]] std::exception_ptr error() const noexcept { return body().error(); }
    [[nodiscard]] outcome<detail::kept_t<T>> to_outcome() && {
        unseen_ = others_unseen_ = false;
        return std::move(body_);
    }

    // Returns how the body ended: its value or its error.
    [[nodiscard]] const outcome<detail::kept_t<T>>& body() const noexcept {
        unseen_ = others_unseen_ = false;
        return body_;
    }
    // Returns the body's result; throws its error with its own type.
    [[nodiscard]] const detail::kept_t<T>& value() const& {
        throw_error();
        return body_.value();
    }
    [[nodiscard]] detail::kept_t<T> value() && {
        throw_error();
        return std::move(body_).value();
    }
    [[nodiscard]] const supervised_counts& counts() const noexcept { return counts_; }
    // Returns every failed attempt in order, at most the first hundred.
    [[nodiscard]] const std::vector<child_failure>& failures() const noexcept { return failures_; }

private:
    void throw_error() const {
        if (body_.has_error()) {
            unseen_ = false;
            std::rethrow_exception(body_.error());
        }
    }

    outcome<detail::kept_t<T>> body_;
    supervised_counts counts_;
    std::vector<child_failure> failures_;
    site where_;
    mutable bool unseen_;
    mutable bool others_unseen_;
};

namespace detail {

// A failing body cancels the children, but is no failure of the scope: its outcome is part of the result.
template <class T, class Fn, class... Args>
task<> supervised_body(scope& s, supervision& all, std::optional<supervisor>& made, outcome<kept_t<T>>& result, Fn fn,
                       Args... args) {
    std::optional<kept_t<T>> value;
    outcome<void> ended;
    try {
        task<> body = keep_result<T>(value, std::invoke(fn, made.emplace(all, s), std::move(args)...));
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
        add_others(result, ended.others());
    } else {
        result = outcome<kept_t<T>>(std::in_place, std::move(*value));
    }
}

template <class T, class Fn, class... Args>
task<supervised<T>> supervise_task(site where, on_failure what, Fn fn, Args... args) {
    supervision all(std::move(what), where);
    std::optional<supervisor> made;  // lives here because children may use it after the body has returned
    outcome<kept_t<T>> result;
    using start_function = task<> (*)(scope&, supervision&, std::optional<supervisor>&, outcome<kept_t<T>>&, Fn, Args...);
    policy_scope<start_function, std::reference_wrapper<supervision>, std::reference_wrapper<std::optional<supervisor>>,
                 std::reference_wrapper<outcome<kept_t<T>>>, Fn, Args...>
        in(all, "supervise", where, &supervised_body<T, Fn, Args...>, std::ref(all), std::ref(made), std::ref(result),
           std::move(fn), std::move(args)...);
    std::exception_ptr escalated;
    try {
        co_await std::move(in);
    } catch (...) {
        escalated = std::current_exception();
    }
    if (!escalated) {
        co_return supervised<T>(std::move(result), all.counts(), all.take_failures(), where);
    }
    if (result.has_error()) {
        co_await carry_failure(escalated, result.error());
    }
    for (const std::exception_ptr& other : result.others()) {
        co_await carry_failure(escalated, other);
    }
    std::rethrow_exception(escalated);
}

template <class Fn, class... Args>
struct supervised_call {
    static constexpr bool is_callable = std::is_invocable_v<Fn&, supervisor&, Args...>;
    static_assert(
        is_callable,
        "supervise(on_failure, fn, args...): fn(supervisor&, args...) cannot be called with these arguments, which "
        "are passed as copies; for a parameter that is a reference write std::ref(x)");
    using made = task_of_call<is_callable, Fn&, supervisor&, Args...>;
    static_assert(is_task<made>, "supervise(on_failure, fn, args...): fn(supervisor&, args...) has to return a task");
};
template <class Fn, class... Args>
using supervised_value = typename supervised_call<Fn, Args...>::made::value_type;

}  // namespace detail

// co_await supervise(on_failure, fn, args...): runs fn(supervisor&, args...), a task, and waits for its children too. If the
// body fails, the children are cancelled and awaited, and the result holds the failure. An escalated failure is thrown.
template <class Fn, class... Args>
[[nodiscard]] auto supervise(detail::placed<on_failure> what, Fn&& fn, Args&&... args)
    -> task<supervised<detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>>> {
    using value = detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>;
    return detail::supervise_task<value, detail::callable_for<Fn>, std::decay_t<Args>...>(
        what.site(), std::move(what.value()), std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace roost::inline ROOST_ABI
