#pragma once

// A handle to a started child. It observes the child: dropping it has no effect, because the scope owns and awaits the child.
//
//   job j = s.launch("poll", poll(feed));
//   ...
//   j.cancel();
//   co_await j.join();          // returns when the child and everything below it has ended, however it ended

#include <roost/task/detail/access.hpp>
#include <roost/task/detail/frame/await.hpp>
#include <roost/task/detail/job/join_checks.hpp>
#include <roost/task/detail/job/scope_core.hpp>
#include <roost/tree/token.hpp>

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI {

class job {
public:
    class join_awaiter;

    // An empty job; a closed scope returns it. Its state is cancelled, with the reason `closed`.
    job() noexcept = default;
    explicit job(detail::node_ref<detail::job_core> core) noexcept : core_(std::move(core)) {}

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(core_); }

    [[nodiscard]] std::string_view name() const noexcept { return core_ ? core_->name() : std::string_view(); }
    [[nodiscard]] roost::site site() const noexcept { return core_ ? core_->made_at() : roost::site(); }
    [[deprecated("use site()")]] [[nodiscard]] roost::site made_at() const noexcept { return site(); }
    [[nodiscard]] job_state state() const noexcept { return core_ ? core_->state() : job_state::cancelled; }
    [[nodiscard]] bool is_finished() const noexcept { return !core_ || core_->is_final(); }

    // Requests a cancel of the job and everything below it. Sets the level everywhere before it returns, and does not wait
    // for the end. Thread-safe. Returns true if this call was the first request. Returns false for a finished or empty job.
    bool cancel(reason why = reason::plain_kind(reason_kind::requested)) const noexcept;
    // As cancel(), one level higher: shields and ignore guards do not delay it.
    bool abort(reason why = reason::plain_kind(reason_kind::requested)) const noexcept;
    // Returns a token of the job, for callbacks and for code that only polls. The token of an empty job is empty.
    [[nodiscard]] token observe() const noexcept { return core_ ? token(*core_) : token(); }
    // The next three return the same as those of the job's token. For an empty job they return true.
    [[nodiscard]] bool stop_requested() const noexcept { return !core_ || core_->is_stopping(); }
    [[nodiscard]] bool cancel_requested() const noexcept { return !core_ || core_->cancel_requested(); }
    [[nodiscard]] bool is_cancelled() const noexcept { return !core_ || core_->is_cancelled(); }
    [[deprecated("use is_cancelled()")]] [[nodiscard]] bool should_stop_now() const noexcept { return is_cancelled(); }
    [[nodiscard]] time_point deadline() const noexcept { return core_ ? core_->deadline() : no_deadline; }

    // Waits until the job is final. Cancelling the waiter does not cancel the job. Throws error(would_deadlock) if a job
    // waits for itself, for an ancestor, or for a job that waits for it.
    [[nodiscard("it waits only when it is awaited: write co_await")]] join_awaiter join() const noexcept;

    // error() returns null unless the job has failed. why() returns an empty reason unless the job has ended cancelled.
    [[nodiscard]] std::exception_ptr error() const noexcept;
    [[nodiscard]] reason why() const noexcept;
    // others() returns the further failures beside error(), notes() the texts of with_note(). Both are empty until the job
    // ends.
    [[nodiscard]] std::vector<std::exception_ptr> others() const;
    [[nodiscard]] std::vector<std::string> notes() const;

    // Returns the job as a node of the tree, for a report or a token of it; for an empty job, one that refers to nothing.
    [[nodiscard]] node tree_node() const noexcept { return core_ ? node(*core_) : node(); }

    friend bool operator==(const job&, const job&) noexcept = default;

private:
    friend struct detail::task_access;
    detail::node_ref<detail::job_core> core_;
};

// Any coroutine can await a join. Only a task is checked for waiting for itself.
class [[nodiscard("it waits only when it is awaited: write co_await")]] job::join_awaiter {
public:
    explicit join_awaiter(detail::node_ref<detail::job_core> core) noexcept : core_(std::move(core)) {
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
    // The interface of a select clause.
    [[nodiscard]] bool can_wait() const noexcept { return wait_.has_value(); }
    [[nodiscard]] bool start(const ext::resume_target& target) noexcept { return wait_ && wait_->start(target); }
    [[nodiscard]] ext::waiter& node() noexcept { return wait_->node(); }
    [[nodiscard]] ext::wait_target waits_on() const noexcept { return wait_ ? wait_->waits_on() : ext::wait_target(); }

    [[nodiscard]] detail::cancellable_await<join_awaiter> in_task(detail::promise_base& me) && {
        check(me);
        return detail::cancellable_await<join_awaiter>(me, std::move(*this));
    }

private:
    friend struct detail::task_access;
    void check(const detail::promise_base& me) const {
        if (core_) {
            detail::refuse_own_join(me, *core_);
        }
    }
    [[nodiscard]] detail::job_core* joined() const noexcept { return core_.get(); }

    detail::node_ref<detail::job_core> core_;
    std::optional<detail::join_operation> wait_;
};

inline detail::job_core* detail::task_access::core_of(const job& of) noexcept { return of.core_.get(); }

inline job::join_awaiter job::join() const noexcept {
    if constexpr (ROOST_CHECKED != 0) {
        if (!core_) [[unlikely]] {
            detail::joined_nothing();
        }
    }
    return join_awaiter(core_);
}

}  // namespace roost::inline ROOST_ABI
