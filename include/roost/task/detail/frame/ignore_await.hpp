#pragma once

// What co_await ignore_cancellation() runs.

#include <roost/task/detail/frame/promise_base.hpp>
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
    [[nodiscard]] inline ignore_guard await_resume() const noexcept;  // in ignore.hpp

private:
    promise_base* me_;
};

class ignore_call {
public:
    ignore_call() noexcept = default;
    [[nodiscard]] ignore_await in_task(promise_base& me) const noexcept { return ignore_await(me); }
};

}  // namespace roost::inline ROOST_ABI::detail
