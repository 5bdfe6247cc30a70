#pragma once

// What co_await ignore_cancellation() runs.

#include <roost/task/detail/access.hpp>
#include <roost/task/detail/frame/promise.hpp>
#include <roost/task/detail/job/region.hpp>

#include <coroutine>

namespace roost::inline ROOST_ABI {
class ignore_guard;
}

namespace roost::inline ROOST_ABI::detail {

class ignore_await {
public:
    explicit ignore_await(promise_base& me) noexcept : me_(&me) {}
    [[nodiscard]] bool await_ready() const noexcept { return me_->region().enter_ignore(); }
    void await_suspend(std::coroutine_handle<>) const noexcept { unwind_frame(*me_); }
    template <class Guard = ignore_guard>  // defined after this class
    [[nodiscard]] Guard await_resume() const noexcept {
        return task_access::make_ignore_guard(me_->region());
    }

private:
    promise_base* me_;
};

class ignore_call {
public:
    ignore_call() noexcept = default;
    [[nodiscard]] ignore_await in_task(promise_base& me) const noexcept { return ignore_await(me); }
};

}  // namespace roost::inline ROOST_ABI::detail
