#pragma once

// What co_await on(...) runs: a scope with one child, on the other executor.

#include <roost/task/detail/job/job_core.hpp>
#include <roost/task/detail/job/scope_await.hpp>
#include <roost/task/job.hpp>
#include <roost/task/task.hpp>

#include <coroutine>
#include <exception>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

template <class T>
class on_await final : private continuation {
public:
    on_await(promise_base& me, executor_ref where, task<T> t, site from) noexcept
        : continuation(go_on), me_(&me), where_(where), task_(std::move(t)), from_(from) {}
    ~on_await() {
        if (scope_ != nullptr) {
            scope_->release();
        }
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) {
        if (me_->region().is_cancelled_relaxed()) {
            unwind_frame(*me_);
            return true;
        }
        scope_ = &scope_block::make(me_->region(), "on", from_, silent_policy, where_);
        try {
            child_ =
                start_job<T>(*scope_, job_of(*me_).name(), task_access::release_frame(task_), start_mode::scheduled, from_);
        } catch (...) {
            // No child was started, so the scope ends at once.
            static_cast<void>(scope_->join(*this));
            throw;
        }
        if (!scope_->join(*this)) {
            return true;
        }
        const next_step then = finish();
        if (then.is_unwind()) {
            unwind_frame(*me_, child_->outcome_link().why());
        }
        return then.is_unwind();
    }
    T await_resume() { return child_->take(); }

private:
    static next_step go_on(continuation& c) noexcept { return static_cast<on_await&>(c).finish(); }
    next_step finish() noexcept {
        const failure_list others = child_->suppressed();
        if (child_->outcome_link().state() == ending::threw) {
            job_of(*me_).carry(child_->outcome_link().error(), others);
        } else {
            others.for_each([this](const std::exception_ptr& other) { job_of(*me_).add_suppressed(other); });
        }
        if (child_->outcome_link().state() != ending::cancelled) {
            return next_step::resume(*me_);
        }
        runner::of_this_thread().why = child_->outcome_link().why();
        return next_step::unwind(*me_);
    }

    promise_base* me_;
    executor_ref where_;
    task<T> task_;
    site from_;
    scope_block* scope_ = nullptr;
    node_ref<job_block<T>> child_;
};

template <class T>
class [[nodiscard]] on_call {
public:
    on_call(executor_ref where, task<T> t, site from) noexcept : where_(where), task_(std::move(t)), from_(from) {}
    [[nodiscard]] on_await<T> in_task(promise_base& me) && { return on_await<T>(me, where_, std::move(task_), from_); }

private:
    executor_ref where_;
    task<T> task_;
    site from_;
};

}  // namespace roost::inline ROOST_ABI::detail
