#pragma once

// A child that says when it is ready, and a parent that waits for that and no longer.
//
//   task<> serve(started<std::uint16_t> ready, std::string host) {
//       listener l(host);
//       ready(l.port());                                     // from here on the child is on its own
//       ...
//   }
//   const auto port = co_await launch_started<std::uint16_t>(s, "server", serve, std::string("::1"));
//
// Returns what the child was ready with. Until then the child belongs to the caller: its failure is thrown here and fails no
// scope; if the caller is cancelled, so is the child. A child that ends, or is cancelled, before it was ready is
// error(promise_dropped) here. Afterwards it is a child of the scope like any other. Throws error(refused) if the scope is closed.

#include <roost/base/outcome.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/detail/child_name.hpp>
#include <roost/task/detail/closure_check.hpp>
#include <roost/task/scope.hpp>

#include <memory>
#include <string>

namespace roost::inline ROOST_ABI {

namespace detail {

// Where the child and the caller meet. Written by the child before `settled`, read by the caller after it.
template <class T>
class start_meeting {
public:
    event settled{"start of a child"};
    outcome<T> ended;
    bool is_ready = false;  // the child's
};

[[noreturn]] void throw_not_started(std::string_view name, site where);
[[noreturn]] void throw_start_refused(std::string_view name, site where);
[[noreturn]] void refuse_second_start() noexcept;

// The child's side: however the child ends, the caller hears of it.
template <class T>
class start_duty {
public:
    explicit start_duty(std::shared_ptr<start_meeting<T>> at) noexcept : at_(std::move(at)) {}
    start_duty(start_duty&&) noexcept = default;
    start_duty& operator=(start_duty&&) = delete;
    ~start_duty() {
        if (at_ && !at_->is_ready) {
            at_->settled.set();
        }
    }
    [[nodiscard]] const std::shared_ptr<start_meeting<T>>& at() const noexcept { return at_; }

private:
    std::shared_ptr<start_meeting<T>> at_;
};

// The caller's side: a caller that goes before the child was ready takes it along.
class cancel_unstarted {
public:
    explicit cancel_unstarted(job child) noexcept : child_(std::move(child)) {}
    cancel_unstarted(const cancel_unstarted&) = delete;
    cancel_unstarted& operator=(const cancel_unstarted&) = delete;
    ~cancel_unstarted() { child_.cancel(reason::plain_kind(reason_kind::dropped)); }
    void let_go() noexcept { child_ = job(); }

private:
    job child_;
};

}  // namespace detail

// What the child calls, once, when it is ready. Movable; calling it again ends the program.
template <class T = void>
class started {
public:
    explicit started(std::shared_ptr<detail::start_meeting<T>> at) noexcept : at_(std::move(at)) {}

    template <class... Args>
    void operator()(Args&&... args) {
        if (!at_ || at_->is_ready) {
            detail::refuse_second_start();
        }
        at_->ended = outcome<T>(std::in_place, std::forward<Args>(args)...);
        at_->is_ready = true;
        std::exchange(at_, nullptr)->settled.set();
    }

private:
    std::shared_ptr<detail::start_meeting<T>> at_;
};

namespace detail {

template <class T, class Fn, class... Args>
task<> started_child(start_duty<T> given, Fn fn, Args... args) {
    const start_duty<T> duty(std::move(given));
    try {
        co_await std::invoke(fn, started<T>(duty.at()), std::move(args)...);
    } catch (...) {
        if (duty.at()->is_ready) {
            throw;
        }
        duty.at()->ended = outcome<T>(std::current_exception());
    }
}

template <class T, class Fn, class... Args>
task<T> start_and_wait(scope* s, std::string name, std::source_location where, Fn fn, Args... args) {
    auto at = std::make_shared<start_meeting<T>>();
    const job child = s->launch(name, started_child<T, Fn, Args...>(start_duty<T>(at), std::move(fn), std::move(args)...),
                                start::scheduled, where);
    if (!child) {
        throw_start_refused(name, where);
    }
    cancel_unstarted with_me(child);
    co_await at->settled.wait();
    with_me.let_go();
    if (at->ended.is_cancelled()) {
        throw_not_started(name, where);
    }
    co_return std::move(at->ended).value_or_throw();
}

}  // namespace detail

template <class T = void, class Fn, class... Args>
[[nodiscard]] task<T> launch_started(scope& s, child_name name, Fn&& fn, Args&&... args) {
    using made = std::invoke_result_t<detail::callable_for<Fn>&, started<T>, std::decay_t<Args>...>;
    static_assert(detail::is_task<made>,
                  "launch_started<T>(scope, name, fn, args...): fn(started<T>, args...) has to return a task");
    return detail::start_and_wait<T, detail::callable_for<Fn>, std::decay_t<Args>...>(
        &s, std::string(name.text()), name.where(), std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace roost::inline ROOST_ABI
