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
// The first argument decides what a failure does:
//   ignore     the failure is counted
//   restart    the child's fn(args...) is called again after the backoff; after `limit` restarts of it the failure escalates
//   escalate   the body and the other children are cancelled, and supervise() throws the failure
// An attempt is one run of a child. The body is never restarted. A child keeps its job over restarts. A cancelled child is
// no failure. Only the children launched here are supervised. A scope inside one of them fails as a unit. supervise()
// returns when the body and the children have ended. It returns how the body ended, the counts and the failures.
//
// Scope options before the policy name the scope and limit it:
//   supervise(scope_options("feeds").at_most(4), on_failure::ignore(), run_feeds, std::ref(config))
// A supervised child keeps its slot of at_most() over its restarts and the delays between them. A daemon takes no slot.
//
// The further failures of an attempt share the fate of its failure: ignored, resolved by a restart, or thrown with it. If
// supervise() throws and the body has failed too, the body's failure travels with the exception. If supervise() throws or is
// cancelled, there is no result. Then failures whose restart did not begin, and failures of actions registered with
// on_exit(), go to the failure sink.

#include <roost/base/failure_sink.hpp>
#include <roost/flow/detail/placed.hpp>
#include <roost/flow/detail/supervision.hpp>
#include <roost/flow/on_failure.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/child_name.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/scope_options.hpp>
#include <roost/task/sleep.hpp>

#include <exception>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI {

// Launches supervised children. Made by supervise().
class supervisor {
public:
    supervisor(detail::supervision& all, scope& in) noexcept : all_(&all), in_(&in) {}
    supervisor(const supervisor&) = delete;
    supervisor& operator=(const supervisor&) = delete;

    // Starts fn(args...), a task<>. The arguments are copied, because a restart passes them again; std::ref(x) passes a
    // reference. Returns an empty job if the scope is closed.
    template <class Fn, class... Args>
    job launch(detail::child_name name, Fn fn, Args... args) {
        if constexpr (detail::is_task<Fn>) {
            detail::refuse_started_task<Fn>();
            return job();
        } else {
            static_assert(std::is_same_v<detail::called_again<Fn&, Args...>, task<>>,
                          "supervisor::launch(name, fn, args...): fn(args...) has to return a task<>");
            return counted(
                in_->launch(name.text(), child(name, std::move(fn), std::move(args)...), start::scheduled, name.site()));
        }
    }
    // As launch(), in the background: the child is cancelled when the body and all ordinary children have ended.
    template <class Fn, class... Args>
    job daemon(detail::child_name name, Fn fn, Args... args) {
        if constexpr (detail::is_task<Fn>) {
            detail::refuse_started_task<Fn>();
            return job();
        } else {
            static_assert(std::is_same_v<detail::called_again<Fn&, Args...>, task<>>,
                          "supervisor::daemon(name, fn, args...): fn(args...) has to return a task<>");
            return counted(
                in_->daemon(name.text(), child(name, std::move(fn), std::move(args)...), start::scheduled, name.site()));
        }
    }
    // co_await room(), free_slots(): as those of the scope, for at_most().
    [[nodiscard]] task<> room() { return in_->room(); }
    [[nodiscard]] std::uint32_t free_slots() const noexcept { return in_->free_slots(); }
    void cancel(reason why = reason::plain_kind(reason_kind::requested)) noexcept { in_->cancel(std::move(why)); }
    [[nodiscard]] token observe() const noexcept { return in_->observe(); }

private:
    template <class Fn, class... Args>
    [[nodiscard]] task<> child(const detail::child_name& name, Fn fn, Args... args) {
        return detail::supervised_child<Fn, Args...>(*all_, detail::task_access::core_of(*in_), std::string(name.text()),
                                                     std::move(fn), std::move(args)...);
    }
    [[nodiscard]] job counted(job made) noexcept {
        if (made) {
            all_->started();
        }
        return made;
    }

    detail::supervision* all_;
    scope* in_;
};

// The result of supervise(). error(), body() and to_outcome() mark a failure of the body as read. value() throws the first
// failure and marks only that one: the further failures do not travel with it. The destructor sends unread failures to the
// failure sink.
template <class T>
class [[nodiscard]] supervised {
public:
    supervised(outcome<detail::kept_t<T>> body, observe::supervised_counts counts, std::vector<child_failure> failures,
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

    // The result of the body, with the names of base/status.hpp.
    [[nodiscard]] bool has_value() const noexcept { return body_.has_value(); }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] wait_status status() const noexcept { return body_.status(); }
    [[nodiscard]] std::exception_ptr error() const noexcept { return body().error(); }
    [[nodiscard]] outcome<detail::kept_t<T>> to_outcome() && {
        unseen_ = others_unseen_ = false;
        return std::move(body_);
    }

    // Returns how the body ended: its value, its error or cancelled.
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
    [[nodiscard]] const observe::supervised_counts& counts() const noexcept { return counts_; }
    // Returns the first hundred failed attempts, in order. Includes failures of on_exit actions in attempts that did not
    // fail themselves.
    [[nodiscard]] const std::vector<child_failure>& failures() const& noexcept { return failures_; }
    [[nodiscard]] std::vector<child_failure> failures() && noexcept { return std::move(failures_); }

private:
    void throw_error() const {
        if (body_.has_error()) {
            unseen_ = false;
            std::rethrow_exception(body_.error());
        }
    }

    outcome<detail::kept_t<T>> body_;
    observe::supervised_counts counts_;
    std::vector<child_failure> failures_;
    site where_;
    mutable bool unseen_;
    mutable bool others_unseen_;
};

// co_await supervise(on_failure, fn, args...): runs fn(supervisor&, args...), a task, and waits for its children too. If the
// body fails, the children are cancelled and awaited, and the result holds the failure. An escalated failure is thrown.
template <class Fn, class... Args>
[[nodiscard]] auto supervise(detail::placed<on_failure> what, Fn&& fn, Args&&... args)
    -> task<supervised<detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>>>;
// As above, with the name, site and limit of the options. Ends the program if the options have keep_going() or
// report_failures(): on_failure decides what a failure does.
template <class Fn, class... Args>
[[nodiscard]] auto supervise(scope_options how, on_failure what, Fn&& fn, Args&&... args)
    -> task<supervised<detail::supervised_value<detail::callable_for<Fn>, std::decay_t<Args>...>>>;

}  // namespace roost::inline ROOST_ABI

// The definitions.
#include <roost/flow/detail/supervise_task.hpp>
