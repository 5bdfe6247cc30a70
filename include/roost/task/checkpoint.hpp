#pragma once

// What a task can ask about itself. The first three may suspend to let other work run; the others never suspend.
//
//   co_await yield();                    lets everything that is queued on the executor run first
//   co_await checkpoint();               ends the job here if it is cancelled, as every other await does
//   bool go_on = co_await is_active();   false if the next checkpoint would end the job
//   job me = co_await this_job();        a handle for other code; me.cancel() cancels the calling job
//   token t = co_await this_token();     of the innermost scope, deadline or shield; deadline(), remaining()
//   time_point t = co_await this_time(); by the clock of the task's executor: virtual time in a test

#include <roost/task/detail/frame/ready_await.hpp>
#include <roost/task/job.hpp>
#include <roost/task/task.hpp>
#include <roost/tree/token.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

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

}  // namespace detail

[[nodiscard]] inline detail::checkpoint_call checkpoint() noexcept { return {}; }
[[nodiscard]] inline detail::is_active_call is_active() noexcept { return {}; }
[[nodiscard]] inline detail::this_job_call this_job() noexcept { return {}; }
[[nodiscard]] inline detail::this_token_call this_token() noexcept { return {}; }
[[nodiscard]] inline detail::this_time_call this_time() noexcept { return {}; }
[[nodiscard]] inline detail::yield_call yield() noexcept { return {}; }

// Returns the job whose body runs on the calling thread, or an empty job. For code that is no coroutine.
[[nodiscard]] job current_job() noexcept;

}  // namespace roost::inline ROOST_ABI
