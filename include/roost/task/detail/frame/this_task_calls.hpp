#pragma once

// What the functions of task/this_task.hpp return, and what awaiting it does.

#include <roost/base/clock.hpp>
#include <roost/exec/work.hpp>
#include <roost/task/detail/frame/burial.hpp>
#include <roost/task/detail/frame/give_way.hpp>
#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/frame/ready_await.hpp>
#include <roost/task/detail/job/job_core.hpp>
#include <roost/task/detail/job/region.hpp>
#include <roost/task/job.hpp>
#include <roost/tree/token.hpp>

#include <coroutine>

namespace roost::inline ROOST_ABI::detail {

class checkpoint_await {
public:
    explicit checkpoint_await(promise_base& me) noexcept : me_(&me) {}
    [[nodiscard]] bool await_ready() const noexcept { return !me_->region().is_cancelled_relaxed() && may_go_on(*me_); }
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<>) const noexcept {
        if (me_->region().is_cancelled_relaxed()) {
            unwind_frame(*me_);
            return true;
        }
        return give_way(*me_);
    }
    void await_resume() const noexcept {}

private:
    promise_base* me_;
};

class is_active_await {
public:
    explicit is_active_await(promise_base& me) noexcept : me_(&me) {}
    [[nodiscard]] bool await_ready() const noexcept { return may_go_on(*me_); }
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<>) const noexcept { return give_way(*me_); }
    [[nodiscard]] bool await_resume() const noexcept { return !me_->region().is_cancelled_relaxed(); }

private:
    promise_base* me_;
};

class yield_await final : private work {
public:
    explicit yield_await(promise_base& me) noexcept : work(run_again), me_(&me) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    ROOST_AWAIT_SUSPEND void await_suspend(std::coroutine_handle<>) noexcept;
    void await_resume() const noexcept {}

private:
    static void run_again(work& self) noexcept;
    promise_base* me_;
};

class checkpoint_call {
public:
    checkpoint_call() noexcept = default;
    [[nodiscard]] checkpoint_await in_task(promise_base& me) const noexcept { return checkpoint_await(me); }
};
class yield_call {
public:
    yield_call() noexcept = default;
    [[nodiscard]] yield_await in_task(promise_base& me) const noexcept { return yield_await(me); }
};
class is_active_call {
public:
    is_active_call() noexcept = default;
    [[nodiscard]] is_active_await in_task(promise_base& me) const noexcept { return is_active_await(me); }
};
class this_job_call {
public:
    this_job_call() noexcept = default;
    [[nodiscard]] ready_await<job> in_task(promise_base& me) const noexcept {
        return ready_await<job>(job(node_ref<job_core>::share(job_of(me))));
    }
};
class this_token_call {
public:
    this_token_call() noexcept = default;
    [[nodiscard]] ready_await<token> in_task(promise_base& me) const noexcept {
        region* const in = where_now(me);
        return ready_await<token>(in == nullptr ? token() : token(*in));
    }
};

class this_time_call {
public:
    this_time_call() noexcept = default;
    [[nodiscard]] ready_await<time_point> in_task(promise_base& me) const noexcept;
};

}  // namespace roost::inline ROOST_ABI::detail
