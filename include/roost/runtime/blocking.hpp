#pragma once

// co_await blocking(fn, args...): runs fn(args...) on a thread of the blocking lane and resumes with its result.
//
//   std::string text = co_await blocking(read_whole_file, path);
//   auto rows = co_await blocking(interrupted_by(stop_query), run_query, &database);
//
// Works from any coroutine type. A Roost task uses the lane of its runtime. A coroutine type whose promise has no executor
// names a lane: blocking_on(rt.blocking(), fn, args...). It is resumed on that lane's thread.
//
// Cancellation: a function that has not started is withdrawn and never runs. A function that runs is never abandoned by a
// cancel. The cancelling thread calls the interrupter once, and only while fn runs. The await then completes with what fn
// returns, and the task's next checkpoint cancels.
//
// Throws at the await what fn threw. Throws std::system_error(errc::closed) if the lane is closed or cannot start a thread.

#include <roost/base/atomic.hpp>
#include <roost/base/error.hpp>
#include <roost/exec/blocking.hpp>
#include <roost/exec/executor.hpp>
#include <roost/exec/resume.hpp>
#include <roost/runtime/blocking_lane.hpp>
#include <roost/runtime/detail/blocking_phase.hpp>
#include <roost/sync/waiter.hpp>
#include <roost/task/detail/closure_check.hpp>

#include <coroutine>
#include <exception>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

// Wraps the function that makes a blocked call return early: it closes the socket, calls sqlite3_interrupt, and so on.
template <class Hook>
class interrupted_by {
public:
    static_assert(std::is_nothrow_invocable_v<Hook&>, "an interrupter runs inside cancel(), so it has to be noexcept");
    explicit interrupted_by(Hook hook) noexcept(std::is_nothrow_move_constructible_v<Hook>) : hook_(std::move(hook)) {}
    void operator()() noexcept { hook_(); }

private:
    Hook hook_;
};

namespace detail {

struct no_interrupter {
    void operator()() const noexcept {}
};

template <class T>
class blocking_result {
public:
    template <class Fn, class Args>
    void run(Fn& fn, Args& args) noexcept {
        try {
            value_.emplace(std::apply(std::move(fn), std::move(args)));
        } catch (...) {
            error_ = std::current_exception();
        }
    }
    T take() {
        if (error_ != nullptr) {
            std::rethrow_exception(std::move(error_));
        }
        return std::move(*value_);
    }

private:
    std::optional<T> value_;
    std::exception_ptr error_;
};

template <class T>
class blocking_result<T&> {
public:
    template <class Fn, class Args>
    void run(Fn& fn, Args& args) noexcept {
        auto address = [&fn](Args& a) { return &std::apply(std::move(fn), std::move(a)); };
        std::tuple<Args&> wrapped(args);
        pointer_.run(address, wrapped);
    }
    T& take() { return *pointer_.take(); }

private:
    blocking_result<T*> pointer_;
};

template <>
class blocking_result<void> {
public:
    template <class Fn, class Args>
    void run(Fn& fn, Args& args) noexcept {
        try {
            std::apply(std::move(fn), std::move(args));
        } catch (...) {
            error_ = std::current_exception();
        }
    }
    void take() {
        if (error_ != nullptr) {
            std::rethrow_exception(std::move(error_));
        }
    }

private:
    std::exception_ptr error_;
};

template <class Interrupter, class Fn, class... Args>
class blocking_await final : private blocking_work {
public:
    using result_type = std::invoke_result_t<Fn, Args...>;

    template <class F, class... A>
    explicit blocking_await(blocking_service* lane, Interrupter interrupter, F&& fn, A&&... args)
        : blocking_work(+[](work& w) noexcept { static_cast<blocking_await&>(w).execute(); }),
          lane_(lane),
          interrupter_(std::move(interrupter)),
          fn_(std::forward<F>(fn)),
          args_(std::forward<A>(args)...) {}
    // For deadlines and races that take the awaiter over. Requires that it is not awaited yet: afterwards the lane points
    // to it.
    blocking_await(blocking_await&& other) noexcept(std::is_nothrow_move_constructible_v<Fn> &&
                                                    std::is_nothrow_move_constructible_v<std::tuple<Args...>>)
        : blocking_await(other.lane_, std::move(other.interrupter_), std::move(other.fn_), std::move(other.args_), moved{}) {
    }
    blocking_await(const blocking_await&) = delete;
    blocking_await& operator=(const blocking_await&) = delete;
    ~blocking_await() {
        if (suspended_ && !lane_->withdraw(*this)) {
            phase_.require_over();
        }
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        frame_ = handle.address();
        resume_ = resume_function_of<Promise>();
        executor_ = executor_of(handle);
        if (lane_ == nullptr) {
            lane_ = executor_ ? executor_->blocking() : nullptr;
        }
        require_lane(lane_, executor_);
        set_label(activity::here());
        suspended_ = true;
        if (lane_->submit(*this)) {
            return true;  // another thread may have resumed the coroutine already: no member is touched from here on
        }
        suspended_ = false;
        refused_ = true;
        return false;
    }
    result_type await_resume() {
        suspended_ = false;
        if (refused_) {
            throw std::system_error(make_error_code(errc::closed),
                                    "the blocking lane refused the work: it is closed, or no thread can be started");
        }
        return result_.take();
    }

    [[nodiscard]] wait_target waits_on() const noexcept { return {"blocking function", ""}; }
    // Returns true if fn had not started; it never will. Otherwise the await completes with what fn returns.
    [[nodiscard]] bool try_cancel() noexcept {
        if (lane_->withdraw(*this)) {
            suspended_ = false;
            return true;
        }
        if (phase_.begin_interrupt()) {
            interrupter_();
            phase_.end_interrupt();
        }
        return false;
    }

private:
    struct moved {};
    blocking_await(blocking_service* lane, Interrupter&& interrupter, Fn&& fn, std::tuple<Args...>&& args, moved)
        : blocking_work(+[](work& w) noexcept { static_cast<blocking_await&>(w).execute(); }),
          lane_(lane),
          interrupter_(std::move(interrupter)),
          fn_(std::move(fn)),
          args_(std::move(args)) {}

    void execute() noexcept {
        phase_.begin();
        result_.run(fn_, args_);
        phase_.end();
        set_run(+[](work& w) noexcept {
            auto& me = static_cast<blocking_await&>(w);
            blocking_lane::has_delivered();  // without an executor, or with one that runs it at once: on the lane's thread
            me.resume_(me.frame_);
        });
        if (!blocking_lane::may_deliver()) {
            return;  // abandoned: the executor may be gone, and the coroutine is never resumed
        }
        if (executor_) {
            post_or_fall_back(executor_, *this, "the result of a blocking function");
        } else {
            run();
        }
    }

    blocking_service* lane_;
    blocking_phase phase_;
    bool suspended_ = false;
    bool refused_ = false;
    void* frame_ = nullptr;
    resume_function resume_ = nullptr;
    executor_ref executor_;
    [[no_unique_address]] Interrupter interrupter_;
    Fn fn_;
    std::tuple<Args...> args_;
    blocking_result<result_type> result_;
};

}  // namespace detail

template <class Fn, class... Args>
    requires std::invocable<std::decay_t<Fn>, std::decay_t<Args>...>
[[nodiscard]] auto blocking(Fn&& fn, Args&&... args) {
    return detail::blocking_await<detail::no_interrupter, detail::callable_for<Fn>, std::decay_t<Args>...>(
        nullptr, detail::no_interrupter(), std::forward<Fn>(fn), std::forward<Args>(args)...);
}
template <class Hook, class Fn, class... Args>
    requires std::invocable<std::decay_t<Fn>, std::decay_t<Args>...>
[[nodiscard]] auto blocking(interrupted_by<Hook> hook, Fn&& fn, Args&&... args) {
    return detail::blocking_await<interrupted_by<Hook>, detail::callable_for<Fn>, std::decay_t<Args>...>(
        nullptr, std::move(hook), std::forward<Fn>(fn), std::forward<Args>(args)...);
}
template <class Fn, class... Args>
    requires std::invocable<std::decay_t<Fn>, std::decay_t<Args>...>
[[nodiscard]] auto blocking_on(blocking_service& lane, Fn&& fn, Args&&... args) {
    return detail::blocking_await<detail::no_interrupter, detail::callable_for<Fn>, std::decay_t<Args>...>(
        &lane, detail::no_interrupter(), std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace roost::inline ROOST_ABI
