#pragma once

// What co_await until_stop(...) runs.

#include <roost/base/detail/result.hpp>
#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/detail/job/stop_region.hpp>
#include <roost/task/task.hpp>
#include <roost/tree/token.hpp>

#include <coroutine>
#include <optional>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

template <class T, transfer Mode>
class until_stop_await final : public boundary_await<until_stop_await<T, Mode>, T, Mode>, private stop_region {
    using boundary = boundary_await<until_stop_await, T, Mode>;

public:
    until_stop_await(promise_base& me, promise_base& child, token watched, site where) noexcept
        : boundary(me, child), watched_(std::move(watched)), where_(where) {}

    auto await_suspend(std::coroutine_handle<>) -> typename boundary::suspended {
        if (!watched_.stop_requested() && !this->is_cancelled()) [[likely]] {
            enter(this->me(), watched_, where_);
            if (!watched_.stop_requested()) [[likely]] {
                return this->begin(inside());
            }
            leave();  // a node that stopped before the callback was registered does not call it
        }
        if (this->is_cancelled()) {
            return this->unwind();
        }
        stopped_ = true;
        return this->skip();
    }
    std::optional<kept_t<T>> await_resume() {
        if (stopped_) {
            return std::nullopt;
        }
        return made_of<std::optional<kept_t<T>>>::result([this]() -> T { return this->take(); }, std::in_place);
    }

private:
    friend class boundary_link<until_stop_await, T>;
    next_step ended(ending how, reason& why) noexcept {
        leave();
        if (how == ending::cancelled && this->is_cancelled()) {
            return this->pass_on_own(why);
        }
        if (how == ending::cancelled && watched_.stop_requested()) {
            stopped_ = true;
            return next_step::resume(this->me());
        }
        return this->pass_on(how);  // unwinds if the task cancelled itself
    }

    token watched_;
    site where_;
    bool stopped_ = false;
};

template <class T>
class [[nodiscard]] until_stop_call {
public:
    until_stop_call(token watched, task<T> t, site where) noexcept
        : task_(std::move(t)), watched_(std::move(watched)), where_(where) {}
    template <transfer Mode = this_transfer>
    [[nodiscard]] until_stop_await<T, Mode> in_task(promise_base& me) && {
        return until_stop_await<T, Mode>(me, task_access::release_frame(task_), std::move(watched_), where_);
    }

private:
    task<T> task_;
    token watched_;
    site where_;
};

}  // namespace roost::inline ROOST_ABI::detail
