#pragma once

// What co_await fail_after(...), fail_at(...), move_on_after(...) and move_on_at(...) run.

#include <roost/base/detail/result.hpp>
#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/detail/frame/timers.hpp>
#include <roost/task/detail/job/limit_region.hpp>
#include <roost/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <memory>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

template <class D>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;

[[noreturn]] void throw_timed_out(site where);

enum class when_late : unsigned char { fail, move_on };

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
        return timeout_await<T, Late, Mode>(me, task_access::release_frame(task_), at, where_);
    }

private:
    task<T> task_;
    duration after_ = duration::max();
    time_point at_ = no_deadline;
    site where_;
};

}  // namespace roost::inline ROOST_ABI::detail
