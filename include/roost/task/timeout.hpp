#pragma once

// Deadlines for a task.
//
//   row r = co_await fail_after(50ms, load(id));        throws timed_out when it takes longer
//   auto r = co_await move_on_after(50ms, load(id));    std::optional<row>; bool for a task<void>, a pointer for a reference
//
// The task runs under a deadline of its own. When the deadline passes, the task is cancelled with the reason `timeout`: its
// waits end, and it does not resume from its next await. If the task ends with a value or an error all the same, that is the
// result, however late. One exception: a scope in the task whose children the deadline cancelled has timed out, though its
// body returned.
//
// Awaits that are always ready check the clock now and then: a limit ends a loop of them within two milliseconds of its time.
// If the outer job is cancelled too, that wins over a timeout: the awaiting body ends cancelled. A timeout of zero or less
// does not start the task. The earliest deadline on the way up to the nearest shield counts; this_token() returns it.

#include <roost/base/error.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/detail/job/limit_region.hpp>

#include <optional>

namespace roost::inline ROOST_ABI {

namespace detail {

template <class D>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;

[[noreturn]] void throw_timed_out(site where);

enum class when_late : unsigned char { fail, move_on };

template <class T>
using optional_result = std::conditional_t<
    std::is_void_v<T>, bool,
    std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, std::optional<std::remove_cv_t<T>>>>;

template <class T, when_late Late, transfer Mode>
class timeout_await final : public boundary_await<timeout_await<T, Late, Mode>, T, Mode>, private deadline_region {
    using boundary = boundary_await<timeout_await, T, Mode>;

public:
    timeout_await(promise_base& me, promise_base& child, time_point at, site where) noexcept
        : boundary(me, child), at_(at), where_(where) {}

    auto await_suspend(std::coroutine_handle<>) -> typename boundary::suspended {
        promise_base& me = this->me();
        if (this->is_cancelled()) {
            return this->unwind();
        }
        if (at_ == time_point::min() || at_ <= timers_of(me).now()) {
            late_ = true;
            return this->skip();
        }
        if (!enter(me, where_, at_)) {
            unwind_frame(me, reason::plain_kind(reason_kind::closed));
            return transfer_to<Mode>::none();
        }
        return this->begin(inside());
    }
    auto await_resume() {
        if constexpr (Late == when_late::fail) {
            if (late_) {
                throw_timed_out(where_);
            }
            return this->take();
        } else if constexpr (std::is_void_v<T>) {
            if (!late_) {
                this->take();
            }
            return !late_;
        } else if constexpr (std::is_reference_v<T>) {
            return late_ ? nullptr : std::addressof(this->take());
        } else {
            return late_ ? optional_result<T>() : optional_result<T>(this->take());
        }
    }

private:
    friend class boundary_link<timeout_await, T>;
    next_step ended(ending how, reason& why) noexcept {
        const passed late = leave();
        if (how == ending::threw || (how == ending::returned && (late != passed::cut_short || this->is_cancelled()))) {
            return next_step::resume(this->me());  // a result that exists wins, however late
        }
        this->clear();
        if (this->is_cancelled()) {
            return this->pass_on_own(why);
        }
        if (late == passed::no) {
            return next_step::unwind(this->me());
        }
        late_ = true;
        return next_step::resume(this->me());
    }

    time_point at_;
    site where_;
    bool late_ = false;
};

template <class T, when_late Late>
class [[nodiscard("nothing runs until it is awaited: write co_await")]] timeout_call : public task_only {
public:
    timeout_call(duration after, task<T> t, site where) noexcept : task_(std::move(t)), after_(after), where_(where) {}
    timeout_call(time_point at, task<T> t, site where) noexcept : task_(std::move(t)), at_(at), where_(where) {}

    template <transfer Mode = this_transfer>
    [[nodiscard]] timeout_await<T, Late, Mode> in_task(promise_base& me) && {
        time_point at = at_;
        if (after_ != duration::max()) {
            at = after_ <= duration::zero() ? time_point::min() : deadline_after(timers_of(me).now(), after_);
        }
        return timeout_await<T, Late, Mode>(me, task_.release_frame(), at, where_);
    }

private:
    task<T> task_;
    duration after_ = duration::max();
    time_point at_ = no_deadline;
    site where_;
};

}  // namespace detail

template <class Rep, class Period, class T>
[[nodiscard]] auto fail_after(std::chrono::duration<Rep, Period> d, task<T> t,
                              std::source_location where = std::source_location::current()) noexcept {
    return detail::timeout_call<T, detail::when_late::fail>(detail::saturated(d), std::move(t), where);
}
template <class T>
[[nodiscard]] auto fail_at(time_point at, task<T> t, std::source_location where = std::source_location::current()) noexcept {
    return detail::timeout_call<T, detail::when_late::fail>(at, std::move(t), where);
}
template <class Rep, class Period, class T>
[[nodiscard]] auto move_on_after(std::chrono::duration<Rep, Period> d, task<T> t,
                                 std::source_location where = std::source_location::current()) noexcept {
    return detail::timeout_call<T, detail::when_late::move_on>(detail::saturated(d), std::move(t), where);
}
template <class T>
[[nodiscard]] auto move_on_at(time_point at, task<T> t,
                              std::source_location where = std::source_location::current()) noexcept {
    return detail::timeout_call<T, detail::when_late::move_on>(at, std::move(t), where);
}

// As above, for anything else that a task can await: a wait, a deferred, a scope.
template <class Rep, class Period, class A>
    requires detail::waitable<A>
[[nodiscard]] auto fail_after(std::chrono::duration<Rep, Period> d, A&& a,
                              std::source_location where = std::source_location::current()) {
    return fail_after(d, roost::as_task(std::forward<A>(a)), where);
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto fail_at(time_point at, A&& a, std::source_location where = std::source_location::current()) {
    return fail_at(at, roost::as_task(std::forward<A>(a)), where);
}
template <class Rep, class Period, class A>
    requires detail::waitable<A>
[[nodiscard]] auto move_on_after(std::chrono::duration<Rep, Period> d, A&& a,
                                 std::source_location where = std::source_location::current()) {
    return move_on_after(d, roost::as_task(std::forward<A>(a)), where);
}
template <class A>
    requires detail::waitable<A>
[[nodiscard]] auto move_on_at(time_point at, A&& a, std::source_location where = std::source_location::current()) {
    return move_on_at(at, roost::as_task(std::forward<A>(a)), where);
}

// Chosen if one of the two arguments is wrong; the message names which. Functions of the same name for other types stay
// usable.
template <class D, class A>
    requires(detail::is_duration<D> != detail::task_or_waitable<A>)
task<> fail_after(D, A&&) {
    static_assert(detail::is_duration<D>, "fail_after(limit, task): the limit is a duration (200ms); fail_at takes a time");
    static_assert(detail::task_or_waitable<A>, "fail_after(limit, task) takes a task or something that a task can await");
    return {};
}
template <class D, class A>
    requires(detail::is_duration<D> != detail::task_or_waitable<A>)
task<> move_on_after(D, A&&) {
    static_assert(detail::is_duration<D>,
                  "move_on_after(limit, task): the limit is a duration (200ms); move_on_at takes a time");
    static_assert(detail::task_or_waitable<A>, "move_on_after(limit, task) takes a task or something that a task can await");
    return {};
}

}  // namespace roost::inline ROOST_ABI
