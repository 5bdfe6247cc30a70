#pragma once

// What co_await as_outcome(...) runs. Attempts of flow use it too, to know whether their task began.

#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/detail/job/outcome_from.hpp>
#include <roost/task/job.hpp>
#include <roost/task/task.hpp>

#include <coroutine>
#include <cstddef>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// Its begins() is called when the awaited operation starts, after the checkpoint.
class no_mark {
public:
    no_mark() noexcept = default;
    void operator()() const noexcept {}
};
template <class To>
class begin_mark {
public:
    explicit begin_mark(To& to) noexcept : to_(&to) {}
    void operator()() const noexcept { to_->begins(); }

private:
    To* to_;
};

template <class T, transfer Mode, class Mark = no_mark>
class outcome_await final : public boundary_await<outcome_await<T, Mode, Mark>, T, Mode> {
    using boundary = boundary_await<outcome_await, T, Mode>;

public:
    outcome_await(promise_base& me, promise_base& child, Mark mark = Mark()) noexcept
        : boundary(me, child, ops), suppressed_before_(job_of(me).suppressed_count()), mark_(mark) {}

    auto await_suspend(std::coroutine_handle<>) noexcept -> typename boundary::suspended {
        if (this->is_cancelled()) [[unlikely]] {
            return this->unwind();
        }
        mark_();
        this->child_->attach(*this, this->me().region());
        return this->start(*this->child_);
    }
    // The loop does not destroy a child that has returned or thrown: this frame was resumed directly.
    outcome<T> await_resume() {
        promise_base* child = std::exchange(this->child_, nullptr);
        if (child != nullptr && !this->is_abandoned()) {
            child->handle().destroy();
        }
        if (this->state() != ending::threw) [[likely]] {
            return outcome_from<T>(*this, {});
        }
        return outcome_from<T>(*this, job_of(this->me()).take_beside(this->error(), suppressed_before_));
    }

private:
    friend class boundary_link<outcome_await, T>;
    // Called for a cancellation only. Unwinds if it is the awaiting job's own. Any other becomes the outcome.
    next_step ended(ending how, reason& why) noexcept {
        this->child_ = nullptr;
        if (this->is_cancelled()) {
            return this->pass_on(how);
        }
        this->settle_cancelled(std::move(why));
        return next_step::resume(this->me());
    }
    static promise_base& waiter(await_link& link) noexcept { return boundary::of(link).me(); }
    static constexpr link_ops ops{boundary::done, waiter};

    std::size_t suppressed_before_;
    [[no_unique_address]] Mark mark_;
};

template <class T>
class [[nodiscard]] outcome_call {
public:
    explicit outcome_call(task<T> t) noexcept : task_(std::move(t)) {}
    template <transfer Mode = this_transfer>
    [[nodiscard]] outcome_await<T, Mode> in_task(promise_base& me) && {
        return outcome_await<T, Mode>(me, task_access::release_frame(task_));
    }

private:
    task<T> task_;
};

// as_outcome that also reports whether the task began: calls to.begins() then.
template <class T, class To>
class [[nodiscard]] outcome_of_attempt {
public:
    outcome_of_attempt(task<T> t, To& to) noexcept : task_(std::move(t)), to_(&to) {}
    template <transfer Mode = this_transfer>
    [[nodiscard]] outcome_await<T, Mode, begin_mark<To>> in_task(promise_base& me) && {
        return outcome_await<T, Mode, begin_mark<To>>(me, task_access::release_frame(task_), begin_mark<To>(*to_));
    }

private:
    task<T> task_;
    To* to_;
};

}  // namespace roost::inline ROOST_ABI::detail
