#pragma once

// A started child, seen from outside. A job is one counted reference: dropping it has no effect on the child, because its
// scope owns and awaits it.
//
//   job j = s.launch("poll", poll(feed));
//   ...
//   j.cancel();
//   co_await j.join();          // returns when the child and everything below it has ended, however it ended

#include <roost/task/detail/await.hpp>
#include <roost/task/detail/scope_core.hpp>
#include <roost/tree/token.hpp>

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI {

namespace detail {

[[nodiscard]] inline job_core& job_of(const promise_base& frame) noexcept {
    return static_cast<job_core&>(frame.where().owner());
}

// Throws error(would_deadlock) when the frame runs inside `target`, or `target` waits in join() or for a deferred, perhaps through
// others that do, for the job of the frame: waiting for it could never end. Two jobs that begin to wait for each other at the same
// moment are not found.
void refuse_join_from_inside(const promise_base& frame, const job_core& target);
inline void refuse_own_join(const promise_base& frame, const job_core& target) {
    if (target.parent() != &frame.where()) {  // a child of the scope that the frame runs in is never around it
        refuse_join_from_inside(frame, target);
    }
}

}  // namespace detail

class job {
public:
    class join_awaiter;

    // Refers to nothing: what a closed scope gives instead of a child. Reads as cancelled because of `closed`.
    job() noexcept = default;
    explicit job(node_ref<detail::job_core> core) noexcept : core_(std::move(core)) {}

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(core_); }

    [[nodiscard]] std::string_view name() const noexcept { return core_ ? core_->name() : std::string_view(); }
    [[nodiscard]] site made_at() const noexcept { return core_ ? core_->made_at() : site(); }
    [[nodiscard]] job_state state() const noexcept { return core_ ? core_->state() : job_state::cancelled; }
    [[nodiscard]] bool is_finished() const noexcept { return !core_ || core_->is_final(); }

    // From any thread; has reached everything below when it returns. Says whether this call was the first to ask.
    bool cancel(reason why = reason::plain_kind(reason_kind::requested)) const noexcept;
    // The same one level higher: shields and ignore guards do not hold it up.
    bool abort(reason why = reason::plain_kind(reason_kind::requested)) const noexcept;
    // A token of the job, for callbacks and for code that only looks. Empty for an empty job.
    [[nodiscard]] token observe() const noexcept { return core_ ? token(*core_) : token(); }
    [[nodiscard]] bool cancel_requested() const noexcept { return !core_ || core_->cancel_requested(); }
    [[nodiscard]] bool should_stop_now() const noexcept { return !core_ || core_->should_stop_now(); }
    [[nodiscard]] time_point deadline() const noexcept { return core_ ? core_->deadline() : no_deadline; }

    // Waits until the job is final. Cancelling the waiter leaves the job alone. Throws error(would_deadlock) when a job
    // waits for itself, for an ancestor, or for a job that waits for it in turn.
    [[nodiscard("it waits only when it is awaited: write co_await")]] join_awaiter join() const noexcept;

    // How it ended: null or empty unless it failed or was cancelled, and while it runs.
    [[nodiscard]] std::exception_ptr error() const noexcept;
    [[nodiscard]] reason why() const noexcept;
    // Further failures beside error(), and what traced awaits said on the way up. Once finished.
    [[nodiscard]] std::vector<std::exception_ptr> others() const;
    [[nodiscard]] std::vector<std::string> notes() const;

    friend bool operator==(const job&, const job&) noexcept = default;
    [[nodiscard]] detail::job_core* core() const noexcept { return core_.get(); }

private:
    node_ref<detail::job_core> core_;
};

// Any coroutine can wait for a job; a task is also told when it would wait for itself.
class [[nodiscard("it waits only when it is awaited: write co_await")]] job::join_awaiter {
public:
    explicit join_awaiter(node_ref<detail::job_core> core) noexcept : core_(std::move(core)) {
        if (core_) {
            wait_.emplace(core_.get());
        }
    }
    join_awaiter(join_awaiter&&) noexcept = default;
    ~join_awaiter() {
        if (wait_ && wait_->node().is_unused()) {
            detail::never_awaited(waits_on(), "join()");
        }
    }

    void set_awaited() noexcept {
        if (wait_) {
            wait_->set_awaited();
        }
    }
    [[nodiscard]] bool await_ready() noexcept { return !wait_ || wait_->await_ready(); }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return wait_->await_suspend(handle);
    }
    void await_resume() noexcept {
        if (wait_) {
            wait_->await_resume();
        }
    }
    bool try_cancel() noexcept { return wait_->try_cancel(); }
    // For a select.
    [[nodiscard]] bool can_wait() const noexcept { return wait_.has_value(); }
    [[nodiscard]] bool start(const resume_target& target) noexcept { return wait_ && wait_->start(target); }
    [[nodiscard]] waiter& node() noexcept { return wait_->node(); }
    void check(const detail::promise_base& me) const {
        if (core_) {
            detail::refuse_own_join(me, *core_);
        }
    }
    [[nodiscard]] detail::job_core* joined() const noexcept { return core_.get(); }
    [[nodiscard]] wait_target waits_on() const noexcept { return wait_ ? wait_->waits_on() : wait_target(); }

    [[nodiscard]] detail::cancellable_await<join_awaiter> in_task(detail::promise_base& me) && {
        check(me);
        return detail::cancellable_await<join_awaiter>(me, std::move(*this));
    }

private:
    node_ref<detail::job_core> core_;
    std::optional<detail::join_operation> wait_;
};

namespace detail {
[[gnu::cold]] void joined_nothing() noexcept;
}
inline job::join_awaiter job::join() const noexcept {
    if constexpr (ROOST_CHECKED != 0) {
        if (!core_) [[unlikely]] {
            detail::joined_nothing();
        }
    }
    return join_awaiter(core_);
}

}  // namespace roost::inline ROOST_ABI
