#pragma once

// A started child that returns a value.
//
//   deferred<user> u = s.async("user", load_user(id));
//   ...
//   user who = co_await std::move(u);
//
// Awaiting it returns the value. By default a failed child cancels its scope. Then the body of the scope does not resume
// from the await, and with_scope throws the error. With keep_going() or report_failures(), or outside the scope, the await
// throws the child's error. If the child was cancelled, the awaiting body ends cancelled too; as_outcome() returns this as
// data. It is awaited once. Dropping it without awaiting requests cancellation of the child, which its scope still awaits.
// keep() prevents that. If the awaiting job is cancelled, its deferred is dropped in the same way.

#include <roost/task/detail/job/deferred_await.hpp>
#include <roost/task/job.hpp>
#include <roost/task/task.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

template <class T = void>
class [[nodiscard("dropping a deferred cancels its job: co_await it, or write launch() if no result is wanted")]] deferred
    : public detail::task_only {
public:
    using value_type = T;

    // Refers to nothing; a closed scope returns it. Awaiting it throws error(refused).
    deferred() noexcept = default;
    explicit deferred(detail::node_ref<detail::job_block<T>> block) noexcept : block_(std::move(block)) {}
    deferred(deferred&& other) noexcept : block_(std::move(other.block_)), kept_(std::exchange(other.kept_, false)) {}
    deferred& operator=(deferred&& other) noexcept {
        if (this != &other) {
            drop();
            block_ = std::move(other.block_);
            kept_ = std::exchange(other.kept_, false);
        }
        return *this;
    }
    ~deferred() { drop(); }

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(block_); }
    // From now on, dropping the deferred does not cancel the child.
    deferred&& keep() && noexcept {
        kept_ = true;
        return std::move(*this);
    }
    void keep() & noexcept { kept_ = true; }

    // Returns a job that observes the same child.
    [[nodiscard]] job as_job() const noexcept {
        return block_ ? job(detail::node_ref<detail::job_core>::share(*block_)) : job();
    }
    [[nodiscard]] job_state state() const noexcept { return as_job().state(); }
    bool cancel(reason why = reason::plain_kind(reason_kind::requested)) const noexcept {
        return as_job().cancel(std::move(why));
    }
    [[nodiscard("it waits only when it is awaited: write co_await")]] job::join_awaiter join() const noexcept {
        return as_job().join();
    }

    [[nodiscard]] detail::deferred_await<T> in_task(detail::promise_base& me) &&;
    void in_task(detail::promise_base&) & = delete;  // a deferred is awaited once: co_await std::move(d)

private:
    friend struct detail::task_access;
    void drop() noexcept {
        if (block_ && !kept_ && !block_->is_final()) {
            if constexpr (ROOST_CHECKED != 0) {
                detail::deferred_dropped(*block_);
            }
            block_->detail::node::cancel(reason::plain_kind(reason_kind::dropped));
        }
        block_ = {};
    }

    detail::node_ref<detail::job_block<T>> block_;
    bool kept_ = false;
};

template <class T>
detail::deferred_await<T> deferred<T>::in_task(detail::promise_base& me) && {
    if (!block_) {
        detail::throw_refused();
    }
    detail::refuse_own_join(me, *block_);
    return detail::deferred_await<T>(me, std::move(*this));
}

}  // namespace roost::inline ROOST_ABI
